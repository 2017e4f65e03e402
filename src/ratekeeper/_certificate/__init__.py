"""The certificate of a test: what is promised, on what data, and at what cost."""

from ratekeeper._certificate.both_rates import JointCertificate
from ratekeeper._certificate.one_rate import POOLED, Cell, Certificate, Origin

__all__ = ["POOLED", "Cell", "Certificate", "JointCertificate", "Origin"]
