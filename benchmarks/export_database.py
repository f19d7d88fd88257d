"""Creates or drops a PostgreSQL database: export_database.py create|drop URL NAME."""

import sys

import psycopg
from psycopg import sql

what, url, name = sys.argv[1:]
statement = {"create": "CREATE DATABASE {}", "drop": "DROP DATABASE IF EXISTS {} WITH (FORCE)"}[what]
with psycopg.connect(url, autocommit=True) as connection:
    connection.execute(sql.SQL(statement).format(sql.Identifier(name)))
