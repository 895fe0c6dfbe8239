WITH chosen AS (
  SELECT board, coalesce(cpu_model, '') AS cpu_model, model, coalesce(weights_hash, '') AS weights_hash,
         coalesce(threads, 0) AS threads, engine, coalesce(device, capture) AS device, tokens_per_s
  FROM captures
  WHERE tokens_per_s > 0e0
),
singles AS (
  SELECT board, cpu_model, model, weights_hash, threads, engine, device, count(*) AS captures, median(tokens_per_s) AS tokens_per_s
  FROM chosen
  GROUP BY board, cpu_model, model, weights_hash, threads, engine, device
),
kinds AS (
  SELECT *,
         count(*) OVER (PARTITION BY board, cpu_model, model, weights_hash, threads, engine) AS devices,
         median(tokens_per_s) OVER (PARTITION BY board, cpu_model, model, weights_hash, threads, engine) AS middle
  FROM singles
),
spreads AS (
  SELECT *, median(abs(tokens_per_s - middle)) OVER (PARTITION BY board, cpu_model, model, weights_hash, threads, engine) AS spread
  FROM kinds
),
scores AS (
  SELECT *, 0.6745e0 * (tokens_per_s - middle) / spread AS score
  FROM spreads
  WHERE spread > 0e0 AND devices >= 5
)
SELECT board, model, threads, engine, device, captures, tokens_per_s, middle, tokens_per_s / middle - 1e0 AS apart_share, score,
       devices, cpu_model, weights_hash
FROM scores
WHERE abs(score) > 3.5e0 AND abs(tokens_per_s / middle - 1e0) > 3e-2
ORDER BY abs(score) DESC, board, cpu_model, model, weights_hash, threads, engine, device
