"""Take the picture in the README: the rating page of the demonstration project.

Run by `make screenshot`.
"""

from demonstration_server import ROOT, browser, demonstration, sign_in

PICTURE = ROOT / "docs" / "images" / "rating.png"
PAGE = "/projects/demonstration-opinions-about-three-products/rate/"


def main() -> None:
    """Sign in, rate two dimensions, take the picture."""
    with demonstration() as address, browser() as chromium:
        page = chromium.new_page(base_url=address, viewport={"width": 1280, "height": 800})
        sign_in(page, "cem@example.org")
        page.goto(PAGE)
        page.keyboard.press("5")
        page.keyboard.press("4")
        page.wait_for_selector("#save-mark[data-state=saved]")
        PICTURE.parent.mkdir(exist_ok=True)
        page.screenshot(path=PICTURE)


if __name__ == "__main__":
    main()
