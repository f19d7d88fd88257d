"""Who gets an answer at every address of the site and for every operation of the API.

a: the project's admin, r: its researcher, n: one of its annotators, j: its adjudicator, o: someone with an
account and no place in it, s: someone who runs the installation, x: without an account, -: none of them, as
there is no file yet. Who is not named finds nothing (404), or is asked to sign in.
"""

PAGES = """
arnjos  GET POST  account/preferences/
arnjos  GET POST  account/keys/
arnjos  GET       account/data.json
arnjos  GET POST  account/address/
arnjos  GET POST  account/address/{anything}/
arnjosx GET       signup/{anything}/
arnjos  GET POST  account/tokens/
arnjos  GET POST  account/sessions/
arnjos  GET       account/again/
arnjos  GET
arnjosx GET POST  invitations/{invited}/
arnjosx GET POST  join/{join}/
arnjosx GET POST  account/digest/{digest}/
-       GET POST  first-account/{anything}/
arnjosx GET       api/v1/
arnjosx GET       api/v1/openapi.json
arnjosx GET       benchmarks/{benchmark}/
arnjosx GET       benchmarks/{benchmark}/embed/
arnjosx GET       benchmarks/{benchmark}/leaderboard.json
arnjosx GET       benchmarks/{benchmark}/leaderboard.csv
arnjosx GET       benchmarks/{benchmark}/documents.json
arnjosx GET POST  benchmarks/{benchmark}/submit/
a     POST      account/tokens/{token}/revoke/
a     POST      account/sessions/{session}/end/
as    GET POST  templates/
as    GET       templates/opinion-summaries.yaml
as    GET POST  projects/new/
as    GET POST  projects/new/from-export/
s     GET       installation/people/
s     GET POST  installation/people/{person}/
s     POST      installation/people/{person}/erase/
a     POST      templates/{template}/remove/
arnj   GET       {home}
arnj   GET       {home}disputes/
arnj   GET       {home}disputes/{dispute}/
arnj   GET       {home}images/{image}
n     POST      {home}disputes/{dispute}/answer/
n     POST      {home}disputes/{dispute}/undo/
n     POST      {home}disputes/{dispute}/wording/
n     GET       {home}rate/
n     GET       {home}rate/mine/
n     GET       {home}rate/mine/values/
n     GET       {home}rate/how/
arnj  GET       {home}guideline/
n     GET       {home}rate/progress/
n     GET       {home}rate/1/
n     GET       {home}practice/
n     POST      {home}practice/again/
n     GET POST  {home}practice/{gold}/
n     GET       {home}practice/{gold}/feedback/
ar    GET       {home}so-far/
ar    GET       {home}results/
ar    GET       {home}results/disagreements/
ar    GET       {home}results/disagreements.csv
ar    GET       {home}results/disagreements/{item}/fluency/
ar    GET POST  {home}results/agreement/
ar    GET       {home}results/agreement/alpha/
ar    GET       {home}results/agreement/alpha.tex
ar    GET       {home}agreement/
ar    GET       {home}agreement/fluency/
ar    GET POST  {home}export/
a     GET POST  {home}export/datasheet/
ar    GET       {home}export/{export}/
ar    POST      {home}export/{export}/again/
ar    POST      {home}export/{export}/delete/
a     POST      {home}export/{export}/push/
ar    GET       {home}export/ratings.csv
ar    GET       {home}versions/
a         POST  {home}versions/
a         POST  {home}versions/edition/
a     GET POST  {home}public-page/
a     GET       {home}submissions/
a     GET POST  {home}submissions/{submission}/
a     GET POST  {home}webhooks/
a     GET POST  {home}webhooks/{webhook}/
a     POST      {home}webhooks/{webhook}/secret/
a     POST      {home}webhooks/{webhook}/test/
a     POST      {home}webhooks/{webhook}/enable/
a     POST      {home}webhooks/{webhook}/remove/
a     POST      {home}webhooks/{webhook}/deliveries/{delivery}/again/
a     GET       {home}review/
a     GET       {home}preview/
a     GET POST  {home}template/
a     GET       {home}as-template/
a     GET POST  {home}settings/
a     GET       {home}dimensions/
a     GET POST  {home}dimensions/new/
a     GET POST  {home}dimensions/fluency/
a     POST      {home}dimensions/fluency/move/
a     POST      {home}dimensions/fluency/duplicate/
a     POST      {home}dimensions/fluency/remove/
a     GET POST  {home}comparisons/
a     GET POST  {home}parts/
a     GET       {home}guideline-versions/
a     POST      {home}guideline-versions/fluency/again/
a     GET POST  {home}images/
a     POST      {home}images/{image}/remove/
a     GET POST  {home}imports/
a     GET POST  {home}imports/{upload}/
a     POST      {home}imports/{upload}/part/
a     POST      {home}imports/{upload}/again/
a     POST      {home}imports/{upload}/cancel/
a     POST      {home}imports/{upload}/discard/
a     POST      {home}imports/{upload}/undo/
ar    GET       {home}items/
a     POST      {home}items/
ar    GET       {home}items/{item}/
a     GET POST  {home}gold/
ar    GET       {home}additions/
a     POST      {home}additions/
ar    GET       {home}additions/{addition}/
a     GET POST  {home}calibration/
a     GET POST  {home}calibration/{calibration_session}/
a     POST      {home}gold/bar/
a     GET POST  {home}gold/{gold}/
a     GET       {home}annotator-quality/
a     GET POST  {home}annotator-quality/{rater}/
a     GET POST  {home}assignment-plan/
a     GET POST  {home}people/
a     GET       {home}people/{rater}/
a     GET POST  {home}people/outside/
a     POST      {home}people/outside/link/
n     GET       {home}end/
a     POST      {home}people/{rater}/role/
a     POST      {home}people/{rater}/hand-over/
a     POST      {home}people/{rater}/label/
a     POST      {home}people/{rater}/join/
a     POST      {home}people/{rater}/invite/
a     POST      {home}people/invite/
a     POST      {home}people/{rater}/change/
a     POST      {home}invitations/{invitation}/send/
a     POST      {home}invitations/{invitation}/withdraw/
ar    GET       {home}rounds/1/
a     POST      {home}rounds/close-2/
a     GET POST  {home}rounds/2/deadline/
a     GET       {home}audit/
a     GET       {home}audit/audit.csv
a     GET POST  {home}delete/
aj    GET       {home}adjudication/
a     GET POST  {home}dispute-rules/
a     POST      {home}disputes/nudge/
aj    POST      {home}disputes/{dispute}/decide/
ar    GET       {home}judges/
ar    GET       {home}judges/{judge}/
a     POST      {home}judges/{judge}/
a     GET POST  {home}judges/new/
ar    GET       {home}judges/{judge}/watch/
a     POST      {home}judges/{judge}/watch/
a     POST      {home}judges/{judge}/watch/stop/
a     POST      {home}judges/{judge}/archive/
a     POST      {home}judges/{judge}/delete/
a     GET POST  {home}judges/panels/new/
a     GET POST  {home}judges/panels/{panel}/
ar    GET       {home}judges/{judge}/judgments/failed/
a     GET POST  {home}judges/read-again/
a     GET POST  {home}judges/read-again/{rereading}/
ar    GET       {home}judges/judgments/
a     POST      {home}judges/judgments/
ar    GET       {home}judges/judgment/{judgment}/
a     POST      {home}judges/judgment/{judgment}/
a     POST      {home}judges/judgment/{judgment}/ask/
a     GET POST  {home}judges/import/
a     GET POST  {home}judges/import/{judgments}/
a     GET POST  {home}judges/metrics/
a     GET POST  {home}judges/metrics/{metrics}/
a     POST      {home}judges/metrics/{metric}/remove/
ar    GET       {home}judges/beside-people/
ar    GET       {home}judges/beside-people/scoring.tex
ar    GET       {home}judges/of-unit/{item}/fluency/
ar    GET       {home}judges/{judge}/beside-people/
ar    GET       {home}judges/{judge}/beside-people/agreement.tex
ar    GET       {home}judges/reliability/
ar    GET       {home}judges/reliability/indicator.tex
ar    GET POST  {home}results/reliability/
ar    GET       {home}judges/estimates/
ar    GET       {home}judges/estimates/means.tex
ar    GET       {home}results/estimates/
ar    GET       {home}judges/replacement/
ar    GET       {home}judges/replacement/tests.tex
ar    GET       {home}results/replacement/
ar    GET       {home}results/compare/
ar    GET       {home}results/trust/
ar    GET       {home}results/verdicts/
ar    GET       {home}results/routes/
ar    GET       {home}judges/pilot/
-     POST      {home}judges/addition/copy/
ar    GET       {home}judges/certificates/
a     GET POST  {home}judges/certificates/new/
ar    GET       {home}judges/certificates/{calibration}/
-     GET       {home}judges/certificates/{calibration}/certificates.tex
a     POST      {home}judges/certificates/{calibration}/withdraw/
ar    GET       {home}judges/routing/
a     GET POST  {home}judges/routing/new/
ar    GET       {home}judges/routing/{policy}/
a     POST      {home}judges/routing/{policy}/
a     POST      {home}judges/routing/{policy}/withdraw/
ar    GET       {home}judges/endpoints/
a     GET POST  {home}judges/endpoints/new/
a     GET POST  {home}judges/endpoints/{endpoint}/
a     POST      {home}judges/endpoints/{endpoint}/test/
a     POST      {home}judges/endpoints/{endpoint}/key/remove/
a     POST      {home}judges/endpoints/{endpoint}/archive/
a     POST      {home}judges/endpoints/{endpoint}/delete/
a     POST      {home}judges/endpoints/{endpoint}/prices/
a     POST      {home}judges/endpoints/{endpoint}/prices/{price}/remove/
ar    GET       {home}judges/prompts/
a     GET POST  {home}judges/prompts/new/rts/
ar    GET       {home}judges/prompts/{prompt}/
a     POST      {home}judges/prompts/{prompt}/
ar    GET       {home}judges/prompts/{prompt}/text/
ar    GET       {home}judges/prompts/{prompt}/steps/
a     POST      {home}judges/prompts/{prompt}/steps/
ar    GET       {home}judges/runs/
ar    GET       {home}judges/experiments/new/
a     POST      {home}judges/experiments/new/
ar    GET       {home}judges/align/
a     POST      {home}judges/align/draw/
a     POST      {home}judges/align/propose/
a     POST      {home}judges/align/write/
a     POST      {home}judges/align/{proposal}/accept/
ar    GET       {home}judges/align/drafts/{drafting}/
a     POST      {home}judges/align/drafts/{drafting}/
a     POST      {home}judges/align/search/
ar    GET       {home}judges/align/search/{search}/
a     POST      {home}judges/align/search/{search}/
a     GET POST  {home}judges/runs/new/
ar    GET       {home}judges/runs/{run}/
a     POST      {home}judges/runs/{run}/budget/
ar    GET       {home}judges/runs/{run}/judgments/failed/
a     POST      {home}judges/runs/{run}/start/
"""

# Answered by 404 or 401 in JSON rather than by a page, or only there in another state of a project.
ELSEWHERE = {
    "moved",
    "styleguide",
    "projects_moved",
    "save_practice_answer",
    "save_practice_answers",
    "save_rating",
    "save_answers",
    "save_note",
    "hold_items",
    "acknowledge",
    "import_refused",
    "export_file",
    "reproduction",
    "reproduction_table",
}

API = """
arnjosx POST   benchmarks/{benchmark}/submissions/
arnjos  GET    me/
arnjos  GET    projects/
arnjos  GET    templates/
as    POST   projects/
arnj   GET    {home}
a     PATCH  {home}
a     POST   {home}template/
arnj   GET    {home}dimensions/
a     POST   {home}dimensions/
a     PUT    {home}dimensions/
arnj   GET    {home}dimensions/fluency/
a     PUT    {home}dimensions/fluency/
a     DELETE {home}dimensions/fluency/
ar    GET    {home}documents/
a     POST   {home}documents/
ar    GET    {home}systems/
ar    GET    {home}items/
a     POST   {home}items/
a     POST   {home}comparisons/
a     DELETE {home}comparisons/
a     POST   {home}parts/
a     GET    {home}imports/
a     POST   {home}imports/{upload}/undo/
ar    GET    {home}raters/
a     GET    {home}people/
a     PATCH  {home}people/{rater}/
a     PUT    {home}people/{rater}/role/
a     POST   {home}people/{rater}/hand-over/
a     PUT    {home}people/{rater}/label/
a     POST   {home}people/{rater}/join/
a     GET    {home}gold/
a     POST   {home}gold/
a     PUT    {home}gold/bar/
a     PUT    {home}gold/{gold}/
a     DELETE {home}gold/{gold}/
a     GET    {home}plan/
a     PUT    {home}plan/
a     GET    {home}audit/
a     GET    {home}invitations/
a     POST   {home}invitations/
a     POST   {home}invitations/several/
a     DELETE {home}invitations/{invitation}/
a     POST   {home}invitations/{invitation}/mail/
arnj   GET    {home}rounds/
a     PUT    {home}rounds/2/deadline/
ar    GET    {home}results/
ar    GET    {home}results/agreement/
ar    GET    {home}results/agreement/rounds.csv
a     POST   {home}rounds/close-2/
ar    GET    {home}assignments/
ar    GET    {home}ratings/
ar    GET    {home}ratings/history/
a     POST   {home}ratings/recorded/
arnj   GET    {home}disputes/
a     GET    {home}disputes/rules/
a     PUT    {home}disputes/rules/
a     POST   {home}disputes/nudges/
arnj   GET    {home}disputes/{dispute}/
n     POST   {home}disputes/{dispute}/answer/
n     POST   {home}disputes/{dispute}/thread/
aj    POST   {home}disputes/{dispute}/decision/
ar    GET    {home}datasheet/
a     PATCH  {home}datasheet/
ar    GET    {home}versions/
a     POST   {home}versions/
ar    GET    {home}exports/
ar    POST   {home}exports/
ar    GET    {home}exports/{export}/
ar    DELETE {home}exports/{export}/
ar    GET    {home}exports/{export}/pushes/
a     POST   {home}exports/{export}/pushes/
-     GET    {home}exports/{export}/file/
a     GET    {home}webhooks/
a     POST   {home}webhooks/
a     GET    {home}webhooks/{webhook}/
a     PUT    {home}webhooks/{webhook}/
a     DELETE {home}webhooks/{webhook}/
a     POST   {home}webhooks/{webhook}/secret/
a     POST   {home}webhooks/{webhook}/enabled/
a     GET    {home}webhooks/{webhook}/deliveries/
a     POST   {home}webhooks/{webhook}/deliveries/
a     POST   {home}webhooks/{webhook}/deliveries/{delivery}/again/
n     GET    {home}work/
n     POST   {home}work/
n     GET    {home}work/1/
n     PUT    {home}work/1/fluency/
ar    GET    {home}endpoints/
a     POST   {home}endpoints/
ar    GET    {home}endpoints/{endpoint}/
a     PUT    {home}endpoints/{endpoint}/
a     POST   {home}endpoints/{endpoint}/test/
a     DELETE {home}endpoints/{endpoint}/
a     PUT    {home}endpoints/{endpoint}/archive/
a     DELETE {home}endpoints/{endpoint}/archive/
ar    GET    {home}endpoints/{endpoint}/prices/
a     POST   {home}endpoints/{endpoint}/prices/
a     DELETE {home}endpoints/{endpoint}/prices/{price}/
a     GET    {home}endpoints/{endpoint}/key/
a     PUT    {home}endpoints/{endpoint}/key/
a     DELETE {home}endpoints/{endpoint}/key/
ar    GET    {home}experiments/
a     POST   {home}experiments/
a     POST   {home}experiments/preview/
ar    GET    {home}panels/
a     POST   {home}panels/
ar    GET    {home}panels/{panel}/
a     PUT    {home}panels/{panel}/
a     POST   {home}panels/{panel}/compute/
ar    GET    {home}content-units/
a     PUT    {home}content-units/
ar    GET    {home}prompts/
a     POST   {home}prompts/
ar    GET    {home}prompts/{prompt}/
a     PUT    {home}prompts/{prompt}/
ar    GET    {home}judges/
a     POST   {home}judges/
ar    GET    {home}judges/{judge}/
a     PUT    {home}judges/{judge}/
a     DELETE {home}judges/{judge}/
a     PUT    {home}judges/{judge}/archive/
a     DELETE {home}judges/{judge}/archive/
ar    GET    {home}runs/
a     POST   {home}runs/
a     POST   {home}runs/preview/
ar    GET    {home}runs/{run}/
a     PUT    {home}runs/{run}/budget/
a     POST   {home}runs/{run}/start/
ar    GET    {home}judgments/
a     POST   {home}judgments/
a     POST   {home}judgments/read-again/
a     GET    {home}judgments/read-again/{rereading}/
a     POST   {home}judgments/read-again/{rereading}/
a     POST   {home}judgments/found/
a     POST   {home}judgments/ask-again/
a     POST   {home}judgments/exclude/
ar    GET    {home}development/
a     POST   {home}development/
a     DELETE {home}development/
ar    GET    {home}proposals/
a     POST   {home}proposals/
a     POST   {home}proposals/examples/
ar    GET    {home}proposals/{proposal}/
a     PATCH  {home}proposals/{proposal}/
a     POST   {home}proposals/{proposal}/dismiss/
ar    GET    {home}draftings/
a     POST   {home}draftings/
ar    GET    {home}draftings/{drafting}/
a     POST   {home}draftings/{drafting}/start/
ar    GET    {home}searches/
a     POST   {home}searches/
ar    GET    {home}searches/{search}/
a     POST   {home}searches/{search}/cancel/
ar    GET    {home}certificates/
a     POST   {home}certificates/
a     POST   {home}certificates/preview/
ar    GET    {home}certificates/{calibration}/
a     POST   {home}certificates/{calibration}/policy/
a     POST   {home}certificates/{calibration}/withdraw/
ar    GET    {home}policies/
a     POST   {home}policies/
ar    GET    {home}policies/{policy}/
a     POST   {home}policies/{policy}/withdraw/
"""
