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
changes AS (
  SELECT *, row_number() OVER (PARTITION BY board, cpu_model, model, weights_hash, threads, device ORDER BY abs(u) DESC, k) AS place
  FROM sums
  WHERE k < n
)
SELECT c.board, c.model, c.threads, c.device, c.n AS captures, c.k AS captures_before, c.next_date AS changed_on,
       c.engine AS engine_before, c.next_engine AS engine_behind,
       median(CASE WHEN s.k <= c.k THEN s.tokens_per_s END) AS tokens_per_s_before,
       median(CASE WHEN s.k > c.k THEN s.tokens_per_s END) AS tokens_per_s_behind,
       median(CASE WHEN s.k > c.k THEN s.tokens_per_s END) / median(CASE WHEN s.k <= c.k THEN s.tokens_per_s END) - 1e0 AS change_share,
       abs(c.u) AS pettitt_k, c.cpu_model, c.weights_hash
FROM changes c JOIN sums s
  ON c.board = s.board AND c.cpu_model = s.cpu_model AND c.model = s.model AND c.weights_hash = s.weights_hash
 AND c.threads = s.threads AND c.device = s.device
WHERE c.place = 1
GROUP BY c.board, c.cpu_model, c.model, c.weights_hash, c.threads, c.device, c.n, c.k, c.next_date, c.engine, c.next_engine, c.u
ORDER BY c.board, c.cpu_model, c.model, c.weights_hash, c.threads, c.device
