"""Settings of Concord. All come from the environment; docs/reference/settings.md lists the variables."""

from datetime import timedelta
from pathlib import Path

from concord.environment import (
    api_rate,
    broker,
    currency,
    data_folder,
    database,
    days_kept,
    email,
    environment_keys,
    file_storage,
    key_encryption,
    local_endpoints,
    log_level,
    metrics_token,
    one_of,
    own_data_folder,
    positive,
    read,
    secret_key,
    single_sign_on,
    time_zone,
)

PACKAGE = Path(__file__).resolve().parent
# The wheel contains templates, static files and translations. In the repository they are outside the package.
IS_INSTALLED = (PACKAGE / "templates").is_dir()
BASE_DIR = PACKAGE if IS_INSTALLED else PACKAGE.parent
DATA_DIR = data_folder(own_data_folder() if IS_INSTALLED else BASE_DIR / "var")

DEBUG = read("bool", "CONCORD_DEBUG", False)
SECRET_KEY = secret_key(DATA_DIR / "secret_key")
SECRET_KEY_FALLBACKS = read("list", "CONCORD_SECRET_KEY_FALLBACKS", [])
ALLOWED_HOSTS = read("list", "CONCORD_ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
HTTPS = read("bool", "CONCORD_HTTPS", False)

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "allauth.usersessions",
    "django_htmx",
    "template_partials",
    "rest_framework",
    "drf_spectacular",
    "annotate",
    "judges",
    "concord",  # the last, since it lets Python collect garbage once all others are loaded
]

MIDDLEWARE = [
    # Probes and scrapes name the host by its IP, so these answer before any check of host names.
    "concord.health.HealthMiddleware",
    "concord.metrics.MetricsMiddleware",
    "concord.request_log.RequestLogMiddleware",
    "concord.middleware.HeavyPagesMiddleware",
    "concord.middleware.WaitingWritersMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "concord.middleware.CompressionMiddleware",
    "concord.middleware.StaticFilesMiddleware",
    "annotate.core.responses.ResponseHeadersMiddleware",
    "concord.middleware.WithoutCookiesMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "annotate.people.sessions.SessionLimitsMiddleware",
    "annotate.core.preferences.LanguageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "annotate.core.audit.ActingMiddleware",
]

ROOT_URLCONF = "concord.urls"
WSGI_APPLICATION = "concord.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "annotate.core.preferences.preferences",
            ],
        },
    }
]

DATABASES = {"default": database(DATA_DIR / "concord.sqlite3")}
# What all processes count together, and what each one keeps for itself.
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "annotate_sharedentry",
        "OPTIONS": {"MAX_ENTRIES": 10_000},  # Django's 300 would forget attempts while they count
    },
    "process": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "process"},
    "template_fragments": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "LOCATION": "fragments",
    },
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "annotate.User"
AUTHENTICATION_BACKENDS = ["annotate.people.accounts.Backend"]
AUTH_PASSWORD_VALIDATORS = [
    # Django's validator against digits alone is missing: a long password of digits is safe.
    {"NAME": "annotate.people.accounts.UnlikeItsOwner"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_ADAPTER = "annotate.people.accounts.AccountAdapter"
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*", "password2*"]
ACCOUNT_FORMS = {
    "signup": "annotate.people.forms.SignupForm",
    "reset_password": "annotate.people.forms.ResetPasswordForm",
    "reset_password_from_key": "annotate.people.forms.ResetPasswordKeyForm",
    "change_password": "annotate.people.forms.ChangePasswordForm",
}
# An invitation or a mailed link proves the e-mail before the account exists.
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_EMAIL_SUBJECT_PREFIX = "Concord: "
ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"
ACCOUNT_SESSION_REMEMBER = True
# The user who follows the link has access to the owner's mail, so the device becomes known, see
# sign_in_limits.
ACCOUNT_LOGIN_ON_PASSWORD_RESET = True
# allauth limits the requests of one person. annotate.people.sign_in_limits limits many people at one IP who
# sign in, sign up or request mails at once: allauth's lock would reject some of them.
ACCOUNT_RATE_LIMITS = {
    "login": None,
    "signup": None,
    "reset_password": None,
    "reset_password_from_key": None,
    # Codes of the second factor: also per day, against weeks of attempts by a person with the password.
    "login_failed": "10/m/ip,5/5m/key,20/d/key",
}
ACCOUNT_REAUTHENTICATION_TIMEOUT = 60 * positive("CONCORD_PASSWORD_AGAIN_MINUTES", 5)
MFA_ADAPTER = "annotate.people.factor_secrets.SecondFactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_FORMS = {
    "authenticate": "annotate.people.views.sign_in.CodeForm",
    "reauthenticate": "annotate.people.views.sign_in.CodeAgainForm",
    "reauthenticate_webauthn": "annotate.people.views.sign_in.PasskeyAgainForm",
    "login_webauthn": "annotate.people.views.sign_in.PasskeyLoginForm",
    "authenticate_webauthn": "annotate.people.views.sign_in.PasskeyFactorForm",
}
MFA_PASSKEY_LOGIN_ENABLED = True
# A forwarded link proves no e-mail, and most people join by one. An account whose e-mail a mailed link proves
# later keeps the second factor: only an operator removes it, see ResetPasswordKeyForm.
MFA_ALLOW_UNVERIFIED_EMAIL = True
MFA_WEBAUTHN_USER_VERIFICATION = "required"  # by PIN, finger or face: a passkey also replaces the password
MFA_RATE_LIMITS = {
    "webauthn_login": None
}  # there is no secret to guess, and a class signs in from one IP at once
MFA_TOTP_ISSUER = "Concord"
MFA_TOTP_TOLERANCE = 1  # a clock may differ by half a minute
# Sign-in by providers of OpenID Connect, see annotate.people.accounts.
SOCIALACCOUNT_ADAPTER = "annotate.people.accounts.SingleSignOnAdapter"
SOCIALACCOUNT_PROVIDERS = single_sign_on()
# Who gets an account with the first sign-in: invited people, or anyone.
SSO_ACCOUNTS = one_of("CONCORD_SSO_ACCOUNTS", "invited", "anyone")
# Admins without one must set it up before they see a project.
ADMINS_NEED_SECOND_FACTOR = read("bool", "CONCORD_ADMINS_NEED_SECOND_FACTOR", False)
SESSION_ENGINE = "annotate.fastpath.sessions"
FAST_PATH = one_of("CONCORD_FAST_PATH", "libpq", "cursor", "off")  # see annotate.fastpath
SESSION_LASTS = timedelta(days=positive("CONCORD_SESSION_DAYS", 30))
SESSION_IDLE = timedelta(hours=positive("CONCORD_SESSION_IDLE_HOURS", 14 * 24))
SESSION_COOKIE_AGE = int(SESSION_LASTS.total_seconds())

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("de", "Deutsch")]
LOCALE_PATHS = [BASE_DIR / "locale"]
FORMAT_MODULE_PATH = "concord.formats"
TIME_ZONE = time_zone("CONCORD_TIME_ZONE")
USE_I18N = True
USE_TZ = True

STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "concord.scripts.JoinedScripts",
]
MEDIA_ROOT = DATA_DIR / "uploads"
# Licensed sources and outputs, and exports with people's comments: not for other accounts of the machine.
FILE_UPLOAD_PERMISSIONS, FILE_UPLOAD_DIRECTORY_PERMISSIONS = 0o600, 0o700
STORAGES = {
    "default": file_storage(),
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
# Of a request without its files, which Django writes to the disk.
DATA_UPLOAD_MAX_MEMORY_SIZE = 5 * 1024 * 1024

vars().update(email("CONCORD_EMAIL_URL", "console://", https=HTTPS))
DEFAULT_FROM_EMAIL = read("str", "CONCORD_FROM_EMAIL", "concord@localhost")

CELERY_BROKER_URL = broker("CONCORD_BROKER_URL")
# Tasks store their results in rows, so nothing reads a result of Celery.
CELERY_TASK_IGNORE_RESULT = True
# Acknowledged at the end: if a worker dies, the broker sends its message to another one.
CELERY_TASK_ACKS_LATE = True
# A message that waits in a worker behind slices of runs is not acknowledged: no more wait than threads work.
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# A message unacknowledged for longer than RabbitMQ allows (30 minutes, for example behind long imports)
# closes the channel. It is opened again; without this the worker ends.
CELERY_BROKER_CHANNEL_ERROR_RETRY = True
# After a lost connection Celery would increase the number of prefetched messages step by step. The thread
# that ends a task would then read the broker's answer from the socket that the main thread reads. Half a
# frame is lost, and the worker blocks for ever on a frame of an invalid length.
CELERY_WORKER_ENABLE_PREFETCH_COUNT_REDUCTION = False
# Celery would replace the log's handlers, whose formatters hide secrets.
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_TIMER_PRECISION = 0.2  # seconds that a worker's timer may sleep while the worker is to stop
if CELERY_BROKER_URL.startswith("filesystem"):
    CELERY_BROKER_TRANSPORT = "concord.broker:Transport"
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "data_folder_in": str(DATA_DIR / "broker" / "queue"),
        "data_folder_out": str(DATA_DIR / "broker" / "queue"),
        "control_folder": str(DATA_DIR / "broker" / "control"),
        "polling_interval": 0.2,
    }
    # No other worker monitors a lone worker, and every answer would leave files behind.
    CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
elif CELERY_BROKER_URL.startswith("redis"):
    # A page that sends a message to a host that does not answer waits no longer.
    CELERY_BROKER_TRANSPORT_OPTIONS = {"socket_connect_timeout": 5}

# Pending uploads and stored exports, of each project.
PROJECT_BYTES = positive("CONCORD_PROJECT_GIB", 20) * 1024**3
# With less, a web server is not ready.
FREE_BYTES = positive("CONCORD_FREE_MIB", 512) * 1024**2
UPLOAD_DAYS = positive("CONCORD_UPLOAD_DAYS", 90)
REPLY_DAYS, AUDIT_DAYS = days_kept("CONCORD_REPLY_DAYS"), days_kept("CONCORD_AUDIT_DAYS")

# Webhooks can only have public internet URLs, and are disabled after days of failures.
PRIVATE_WEBHOOKS = read("bool", "CONCORD_PRIVATE_WEBHOOKS", False)
WEBHOOK_DAYS = positive("CONCORD_WEBHOOK_DAYS", 5)

# Judges' endpoints must also be public, except those listed by the operator; variables go to listed hosts
# only.
LOCAL_ENDPOINTS = local_endpoints("CONCORD_LOCAL_ENDPOINTS")
LOCAL_ENDPOINTS_FILE = read("str", "CONCORD_LOCAL_ENDPOINTS_FILE", "")
ENVIRONMENT_KEYS = environment_keys("CONCORD_ENVIRONMENT_KEYS")
# All costs are in one currency; a file with prices takes precedence over Concord's list.
CURRENCY, PRICES_FILE = currency("CONCORD_CURRENCY"), read("str", "CONCORD_PRICES", "")
KEY_ENCRYPTION = key_encryption("CONCORD_KEY_ENCRYPTION")

# The calls in progress of a dead worker move to another one.
LEASE_SECONDS = positive("CONCORD_LEASE_SECONDS", 10)

SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = HTTPS
SECURE_HSTS_SECONDS = read("int", "CONCORD_HSTS_SECONDS", 31_536_000 if HTTPS else 0)
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
# Removal from browsers' preload lists takes months: a choice of the operator, which no check requires.
SECURE_HSTS_PRELOAD = read("bool", "CONCORD_HSTS_PRELOAD", False)
# W021 demands the preload list. W040 warns that SQLite ignores the included columns of an index.
SILENCED_SYSTEM_CHECKS = ["security.W021", "models.W040"]
if HTTPS:  # browsers take these names from this host alone, by HTTPS, for every path
    SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = "__Host-sessionid", "__Host-csrftoken"
# Without a proxy that sets this header, any client could claim to use HTTPS.
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
CSRF_TRUSTED_ORIGINS = read("list", "CONCORD_TRUSTED_ORIGINS", [])
ALLAUTH_TRUSTED_PROXY_COUNT = read("int", "CONCORD_PROXIES", 0)
# Some URLs are secrets, such as invitations, and a link must not show them to another site.
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    # An operation that declares no permission is closed to everyone.
    "DEFAULT_PERMISSION_CLASSES": ["annotate.api.permissions.Nobody"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_THROTTLE_RATES": {"token": api_rate("CONCORD_API_RATE")},
    "DEFAULT_SCHEMA_CLASS": "annotate.api.schema.OperationSchema",
    "EXCEPTION_HANDLER": "annotate.api.errors.error_answer",
    "NUM_PROXIES": ALLAUTH_TRUSTED_PROXY_COUNT,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Concord",
    "DESCRIPTION": "Benchmarks: experts rate in two rounds, models judge beside them, agreement of both.",
    "VERSION": "v1",
    "OAS_VERSION": "3.1.1",
    "SERVE_INCLUDE_SCHEMA": False,
    "DISABLE_DOCSTRING_DESCRIPTIONS": True,
    "COMPONENT_SPLIT_PATCH": False,
    "PATH_CONVERTER_OVERRIDES": {"position": int},
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "ENUM_NAME_OVERRIDES": {"ProposalKind": ["examples", "clarification", "wording"]},
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "annotate.api.schema.add_examples",
    ],
}

# The token for /metrics, which contains numbers of the whole installation.
METRICS_TOKEN = metrics_token("CONCORD_METRICS_TOKEN")

LOG_FORMAT = one_of("CONCORD_LOG_FORMAT", "line", "json")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"()": "concord.request_log.LineFormatter"},
        "json": {"()": "concord.request_log.JsonFormatter"},
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT}},
    "root": {"handlers": ["console"], "level": log_level("CONCORD_LOG_LEVEL")},
    # A line for each of a run’s thousands of calls, or glyph of a plot, would bury everything else.
    "loggers": {
        name: {"level": "WARNING"} for name in ("httpx", "httpx2", "openai", "fontTools", "matplotlib")
    },
}
