WITH chosen AS (
  SELECT board, coalesce(cpu_model, '') AS cpu_model, model, coalesce(weights_hash, '') AS weights_hash,
         coalesce(threads, 0) AS threads, coalesce(device, '') AS device, capture, start_unix_ns, date, engine, tokens_per_s
  FROM captures
  WHERE tokens_per_s > 0e0
)
SELECT board, cpu_model, model, weights_hash, threads, device, capture, start_unix_ns, date, engine, tokens_per_s
FROM chosen
ORDER BY board, cpu_model, model, weights_hash, threads, device, start_unix_ns NULLS LAST, capture
