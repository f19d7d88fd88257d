"""Creates or drops a PostgreSQL database: export_database.py create|drop URL NAME [TEMPLATE]."""

import sys

import psycopg
from psycopg import sql

what, url, *names = sys.argv[1:]
statement = {"create": "CREATE DATABASE {}", "drop": "DROP DATABASE IF EXISTS {} WITH (FORCE)"}[what]
if len(names) == 2:
    statement += " TEMPLATE {}"
with psycopg.connect(url, autocommit=True) as connection:
    connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))
