"""Wiring: settings, routes, the web entry point and Celery."""

from config.celery import app as celery_app

__all__ = ["celery_app"]
