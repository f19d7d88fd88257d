"""The link in a digest that ends them; it works without signing in."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from annotate import access
from annotate.commands.digests import stop_digests


@csrf_exempt  # a mail program that ends them by one click has no page; the token is what permits it
@require_http_methods(["GET", "POST"])
def digest_stop(request: HttpRequest, token: str) -> HttpResponse:
    """Ask whether digests shall end, and end them: programs that look at links in mail only ask."""
    user = access.user_of_digest(token)
    if request.method == "POST":
        stop_digests(user=user)
    return render(request, "account/digest_stop.html", {"is_done": request.method == "POST"})
