WITH chosen AS (
  SELECT board, coalesce(cpu_model, '') AS cpu_model, model, coalesce(weights_hash, '') AS weights_hash,
         coalesce(threads, 0) AS threads, coalesce(device, '') AS device, capture, start_unix_ns, date, engine, tokens_per_s
  FROM captures
  WHERE tokens_per_s > 0e0
),
ranked AS (
  SELECT *,
         rank() OVER (PARTITION BY board, cpu_model, model, weights_hash, threads, device ORDER BY tokens_per_s)
           + (count(*) OVER (PARTITION BY board, cpu_model, model, weights_hash, threads, device, tokens_per_s) - 1) / 2e0 AS r,
         row_number() OVER (PARTITION BY board, cpu_model, model, weights_hash, threads, device
                            ORDER BY start_unix_ns NULLS LAST, capture) AS k,
         count(*) OVER (PARTITION BY board, cpu_model, model, weights_hash, threads, device) AS n
  FROM chosen
),
sums AS (
  SELECT *,
         2e0 * sum(r) OVER (PARTITION BY board, cpu_model, model, weights_hash, threads, device
                            ORDER BY k ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) - k * (n + 1) AS u,
         lead(date) OVER (PARTITION BY board, cpu_model, model, weights_hash, threads, device ORDER BY k) AS next_date,
         lead(engine) OVER (PARTITION BY board, cpu_model, model, weights_hash, threads, device ORDER BY k) AS next_engine
  FROM ranked
),
splits AS (
  SELECT *, first_value(k) OVER (PARTITION BY board, cpu_model, model, weights_hash, threads, device
                                 ORDER BY CASE WHEN k < n THEN 0 ELSE 1 END, abs(u) DESC, k) AS split
  FROM sums
  WHERE n > 1
),
changes AS (
  SELECT board, cpu_model, model, weights_hash, threads, device, n, split,
         max(CASE WHEN k = split THEN next_date END) AS changed_on, max(CASE WHEN k = split THEN engine END) AS engine_before,
         max(CASE WHEN k = split THEN next_engine END) AS engine_behind, max(CASE WHEN k = split THEN abs(u) END) AS pettitt_k,
         median(CASE WHEN k <= split THEN tokens_per_s END) AS tokens_per_s_before,
         median(CASE WHEN k > split THEN tokens_per_s END) AS tokens_per_s_behind
  FROM splits
  GROUP BY board, cpu_model, model, weights_hash, threads, device, n, split
)
SELECT board, model, threads, device, n AS captures, split AS captures_before, changed_on, engine_before, engine_behind, tokens_per_s_before,
       tokens_per_s_behind, tokens_per_s_behind / tokens_per_s_before - 1e0 AS change_share, pettitt_k, cpu_model, weights_hash
FROM changes
ORDER BY board, cpu_model, model, weights_hash, threads, device
