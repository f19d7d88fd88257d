"""Calibration sessions: raters answer a few documents blind, see each other's answers, discuss and change."""
