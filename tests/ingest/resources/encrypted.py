"""A page that opens only with the password `secret`; run it to make encrypted.pdf again."""

from pathlib import Path

from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

if __name__ == "__main__":
    path = Path(__file__).with_suffix(".pdf")
    canvas = Canvas(str(path), encrypt=StandardEncryption("secret", strength=128), invariant=True)
    canvas.drawString(72, 700, "You have opened it.")
    canvas.save()
