WITH chosen AS (
  SELECT board, coalesce(cpu_model, '') AS cpu_model, model, coalesce(weights_hash, '') AS weights_hash,
         coalesce(threads, 0) AS threads, engine, coalesce(device, capture) AS device, tokens_per_s
  FROM captures
  WHERE tokens_per_s > 0e0
),
devices AS (
  SELECT board, cpu_model, model, weights_hash, threads, engine, device, count(*) AS captures, median(tokens_per_s) AS tokens_per_s
  FROM chosen
  GROUP BY board, cpu_model, model, weights_hash, threads, engine, device
),
kinds AS (
  SELECT board, cpu_model, model, weights_hash, threads, engine, count(*) AS devices, median(tokens_per_s) AS middle
  FROM devices
  GROUP BY board, cpu_model, model, weights_hash, threads, engine
),
apart AS (
  SELECT d.*, k.devices, k.middle, abs(d.tokens_per_s - k.middle) AS distance
  FROM devices d JOIN kinds k
    ON d.board = k.board AND d.cpu_model = k.cpu_model AND d.model = k.model AND d.weights_hash = k.weights_hash
   AND d.threads = k.threads AND d.engine = k.engine
),
spreads AS (
  SELECT board, cpu_model, model, weights_hash, threads, engine, median(distance) AS spread
  FROM apart
  GROUP BY board, cpu_model, model, weights_hash, threads, engine
),
scores AS (
  SELECT a.*, s.spread, 0.6745e0 * (a.tokens_per_s - a.middle) / s.spread AS score
  FROM apart a JOIN spreads s
    ON a.board = s.board AND a.cpu_model = s.cpu_model AND a.model = s.model AND a.weights_hash = s.weights_hash
   AND a.threads = s.threads AND a.engine = s.engine
  WHERE s.spread > 0e0 AND a.devices >= 5
)
SELECT board, model, threads, engine, device, captures, tokens_per_s, middle, tokens_per_s / middle - 1e0 AS apart_share, score,
       devices, cpu_model, weights_hash
FROM scores
WHERE abs(score) > 3.5e0 AND abs(tokens_per_s / middle - 1e0) > 3e-2
ORDER BY abs(score) DESC, board, cpu_model, model, weights_hash, threads, engine, device
