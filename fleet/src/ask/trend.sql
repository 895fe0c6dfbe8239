WITH chosen AS (
  SELECT board, coalesce(cpu_model, '') AS cpu_model, model, coalesce(weights_hash, '') AS weights_hash,
         coalesce(threads, 0) AS threads, engine, engine_build, start_unix_ns, date, tokens_per_s, prefill_tokens_per_s, mbu
  FROM captures
  WHERE tokens_per_s > 0e0
),
builds AS (
  SELECT board, cpu_model, model, weights_hash, threads, engine,
         min(engine_build) AS build, min(start_unix_ns) AS began, min(date) AS first_date, max(date) AS last_date,
         count(*) AS captures, median(tokens_per_s) AS tokens_per_s, min(tokens_per_s) AS slowest, max(tokens_per_s) AS fastest,
         median(prefill_tokens_per_s) AS prefill_tokens_per_s, median(mbu) AS mbu
  FROM chosen
  GROUP BY board, cpu_model, model, weights_hash, threads, engine
),
steps AS (
  SELECT *, lag(tokens_per_s) OVER (
           PARTITION BY board, cpu_model, model, weights_hash, threads
           ORDER BY build NULLS LAST, began NULLS LAST, engine) AS build_before
  FROM builds
)
SELECT board, model, threads, engine, first_date, last_date, captures, tokens_per_s, slowest, fastest,
       tokens_per_s / build_before - 1e0 AS change_share, prefill_tokens_per_s, mbu, cpu_model, weights_hash
FROM steps
ORDER BY board, cpu_model, model, weights_hash, threads, build NULLS LAST, began NULLS LAST, engine
