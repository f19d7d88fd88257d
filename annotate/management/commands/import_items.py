"""`manage.py import_items PROJECT FILE`: documents and the outputs to rate."""

from annotate.management.file_import import FileImportCommand


class Command(FileImportCommand):
    help = "Import documents and the systems' texts for them. Running it twice makes nothing twice."
    items = True
