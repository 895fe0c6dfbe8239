WITH chosen AS (
  SELECT board, coalesce(cpu_model, '') AS cpu_model, model, coalesce(weights_hash, '') AS weights_hash,
         coalesce(threads, 0) AS threads, tokens_per_s, prefill_tokens_per_s, mbu, power_mean_microwatts
  FROM captures
  WHERE tokens_per_s > 0e0
),
settings AS (
  SELECT board, cpu_model, model, weights_hash, threads, count(*) AS captures, median(tokens_per_s) AS tokens_per_s,
         median(prefill_tokens_per_s) AS prefill_tokens_per_s, median(mbu) AS mbu,
         median(power_mean_microwatts / 1e6 / tokens_per_s) AS joules_per_token
  FROM chosen
  GROUP BY board, cpu_model, model, weights_hash, threads
),
best AS (
  SELECT *, row_number() OVER (
           PARTITION BY board, cpu_model, model, weights_hash ORDER BY tokens_per_s DESC, threads) AS place
  FROM settings
)
SELECT model, rank() OVER (PARTITION BY model, weights_hash ORDER BY tokens_per_s DESC) AS rank_of_boards,
       board, threads, captures, tokens_per_s, prefill_tokens_per_s, mbu, joules_per_token, cpu_model, weights_hash
FROM best
WHERE place = 1
ORDER BY model, weights_hash, rank_of_boards, board, cpu_model
