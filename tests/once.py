"""Files that continuous integration plays on SQLite alone, although their tests ask the database.

They are about a form, a mail, a sign-in, a provider's reply, a file that is read, or a computed value.
They store plain rows, and no lock, constraint or SQL statement of ours decides their result. Both databases
play saves, assignments, disputes, imports, exports, jobs, leases, histories and the API.
"""

ONCE = (
    *("agreement/", "judges/methods/"),  # these ask no database
    *("api/test_document.py", "api/test_notebook.py", "api/test_python_client.py", "api/test_schema.py"),
    "api/test_tokens.py",
    *("concord/test_bucket.py", "concord/test_logs.py"),
    *("exports/test_checklist.py", "exports/test_paper.py"),
    *("core/test_navigation.py", "core/test_page_names.py", "core/test_response_headers.py"),
    *("judges/endpoints/test_client.py", "judges/endpoints/test_evaluation_steps.py"),
    "judges/endpoints/test_prices.py",
    *("additions/test_making.py", "judges/additions/test_route.py"),
    *(
        "judges/endpoints/test_keys.py",
        "judges/endpoints/test_keys_ask_for_the_password.py",
        "judges/endpoints/test_limits.py",
    ),
    *("judges/endpoints/test_shipped_wordings.py", "judges/endpoints/test_stolen_keys.py"),
    *("judges/laboratory/test_alignment.py", "judges/laboratory/test_experiments.py"),
    *("judges/laboratory/test_panels.py", "judges/laboratory/test_align_screen.py"),
    *("judges/laboratory/test_draftings.py", "judges/metrics/test_metrics.py"),
    *("judges/metrics/test_perplexity.py", "judges/questions/"),
    *("judges/results/test_doors", "judges/results/test_measurement_levels.py"),
    *("judges/results/test_one_indicator.py", "judges/results/test_own_scales.py"),
    *("judges/routing/test_advice.py", "judges/routing/test_cascades.py", "judges/routing/test_matrix.py"),
    *("judges/routing/test_verdicts.py", "judges/runs/test_asking_again.py", "judges/runs/test_dialects.py"),
    *("judges/runs/test_filtered_runs.py", "judges/runs/test_following_up.py"),
    *("judges/runs/test_several.py", "judges/runs/test_silence.py"),
    *("judges/runs/test_calls.py", "judges/runs/test_judge_command.py", "judges/runs/test_plans.py"),
    *("judges/runs/test_probing.py", "judges/runs/test_problems.py", "judges/runs/test_rates.py"),
    "judges/runs/test_unreadable.py",
    *("material/test_column_mappings.py", "material/test_data_set_folders.py"),
    *("material/test_shipped_mappings.py", "material/test_upload_limits.py", "material/test_worksheets.py"),
    *("people/test_account", "people/test_addresses.py", "people/test_blocking.py", "people/test_keys.py"),
    "people/test_invitations.py",
    *("people/test_notices.py", "people/test_people.py", "people/test_preferences.py"),
    *("people/test_second_factor.py", "people/test_sessions.py", "people/test_single_sign_on.py"),
    *("published/test_releases.py", "quality/test_raters.py"),
    *("rating/test_first_visit.py", "rating/test_independence.py", "rating/test_my_work.py"),
    *("results/test_compared_systems.py", "results/test_named_categories.py"),
    *("results/test_other_questions.py", "results/test_study_designs.py"),
    *("results/test_values_of_rounds.py", "setup/test_presets.py"),
    *("setup/test_dimensions.py", "setup/test_images.py", "setup/test_project_settings.py"),
    *("setup/test_setup.py", "setup/test_template"),
    "test_command_line.py",
)
