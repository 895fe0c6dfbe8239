"""The scenarios, as data: a server with its options and the requests of each round, or a tool with its options and
the reader of what it prints. `@NAME` is the path of a model, `@TEXT` and others of a file."""
from dataclasses import dataclass, field
from typing import Callable

import said
from asks import CHAT, EMBEDDING, IMAGE, RERANK, Ask, in_turn, prompt

# Models that models.py of this folder makes, and those of scripts/gen_archs.py. All others are of scripts/model.sh.
OWN = ("bert-rank", "clip", "dflash", "dspark", "eagle3", "llada", "merger", "pockettts", "speech")
ARCHS = ("bert", "qwen2vl", "qwen35", "t5")

TEXT = "the quick brown fox jumps over the lazy dog "


@dataclass(frozen=True)
class Server:
    about: str
    options: list
    rounds: list  # of requests at the same time

    @property
    def quiet(self):
        """Its times do not depend on what else the server does: one request at a time, answered to its end."""
        asks = [ask for asks in self.rounds for ask in asks]
        gone = any(ask.cancel_after is not None or ask.cut_after_s is not None for ask in asks)
        return not gone and all(len(asks) == 1 for asks in self.rounds)


@dataclass(frozen=True)
class Tool:
    about: str
    program: str
    options: list
    read: Callable = field(default=said.completion)
    text: str = ""  # of the file @TEXT
    quiet: bool = True


def server(about, model, options, rounds):
    return Server(about, ["-m", "@" + model, "-t", "2", *options.split()], rounds)


def tool(about, command, read=said.completion, prompt=None, text=""):
    program, *options = command.split()
    return Tool(about, program, ["-t", "2", *options, *(["-p", prompt] if prompt else [])], read, text)


def messages(*lengths):
    """A chat: messages of this number of words, by user and assistant in turn."""
    words = TEXT.split()
    roles = ("user", "assistant")
    return [{"role": roles[i % 2], "content": " ".join((words * n)[i:i + n])} for i, n in enumerate(lengths)]


def growing_chat(*lengths):
    """A request after each message of the user."""
    return in_turn(*(Ask(messages(*lengths[:i + 1]), path=CHAT) for i in range(0, len(lengths), 2)))


# A repetition, for guesses from n-grams.
AGAIN = prompt(24, 3) * 4
ONE, FOUR = "-np 1 -c 2048 ", "-np 4 -c 4096 "
SPECULATE = in_turn(Ask(AGAIN, 40), Ask(prompt(30, 5), 33), Ask(AGAIN + prompt(5, 6), 21))


def drawn(n):
    """Whether a guess is accepted is drawn, so that random weights have accepted ones: a rate for each of n guesses."""
    return " --spec-synth-rates " + ",".join(f"{0.9 ** (i + 1):.3f}" for i in range(n))


def spoken(more):
    """The same requests with an answer that repeats itself."""
    return in_turn(*(Ask(ask.prompt, ask.n, more=more) for (ask,) in SPECULATE))


# One token again and again; letters in an order of which some always follow; answers that are long enough for
# statistics.
REPEAT = spoken({"logit_bias": [[301, 100]]})
LETTERS = spoken({"grammar": 'root ::= ("abcdef" | "abcdxy")+'})
LONG = in_turn(*(Ask(ask.prompt, 120) for (ask,) in SPECULATE))
DRAFTS = "--spec-draft-n-max 3" + drawn(3)
SAME_TOKEN = "--temp 0 --ignore-eos --logit-bias 301+100"
DRAFT_PAIR = "-m @spec-target -md @spec-draft -n 24 --temp 0 --ignore-eos"
BATCHED_BENCH = "llama-batched-bench -m @dense-q8 -c 2048 -npp 32 -ntg 8 -npl 1,2,4"

SCENARIOS = {
    "one-slot": server("prompts of several lengths, one after another", "dense-q8", ONE,
                       in_turn(Ask(prompt(40, 1)), Ask(prompt(7, 2), 20), Ask(prompt(200, 3), 3))),
    "one-slot-queue": server("six clients at the same time for one slot", "dense-q8", ONE,
                             [[Ask(prompt(20 + 9 * i, i), 6 + i) for i in range(6)]]),
    "four-slots": server("four clients at the same time", "dense-q8", FOUR,
                         [[Ask(prompt(24 + i, i), 24, slot=i) for i in range(4)]]),
    "four-slots-unified": server("the same with one cache for all slots", "dense-q8", FOUR + "--kv-unified",
                                 [[Ask(prompt(24 + i, i), 24) for i in range(4)]]),
    "clients-come-and-go": server("twelve clients for four slots, one every 20 ms", "dense-q8", FOUR,
                                  [[Ask(prompt(20 + 7 * i, i), 6 + 5 * (i % 4), after_s=0.02 * i)
                                    for i in range(12)]]),
    "one-of-four": server("one client of a server with four slots", "dense-q8", FOUR,
                          in_turn(*(Ask(prompt(30 + i, i), 10) for i in range(5)))),
    "long-prompt-joins": server("a long prompt while three answers are generated", "dense-q8", FOUR + "-b 128 -ub 64",
                                [[Ask(prompt(20, i), 60, slot=i) for i in range(3)]
                                 + [Ask(prompt(700, 4), 6, slot=3, after_s=0.05)]]),
    "shortest": server("one token as prompt, one as output", "dense-q8", ONE,
                       in_turn(Ask(prompt(1, 1), 1), Ask(prompt(1, 2), 5), Ask(prompt(12, 3), 1),
                               Ask(prompt(12, 4), 2))),
    "no-output": server("prompts that are only kept for later", "dense-q8", ONE,
                        in_turn(Ask(prompt(50, 1), 0), Ask(prompt(50, 1) + prompt(9, 2), 6), Ask(prompt(70, 3), 0))),
    "small-batches": server("prompts in batches of 64 and 32", "dense-q8", ONE + "-b 64 -ub 32",
                            in_turn(Ask(prompt(300, 1)), Ask(prompt(64, 2)), Ask(prompt(65, 3)))),
    "several-answers": server("three answers to one prompt", "dense-q8", FOUR,
                              in_turn(Ask(prompt(30, 1), 9, more={"n_cmpl": 3}))),
    "split-for-checkpoints": server("the ends of long prompts in calls of their own", "gemma2-q8", "-np 1 -c 4096",
                                    in_turn(*(Ask(prompt(n, n)) for n in (300, 900, 1500)))),
    "split-at-messages": server("checkpoints at the messages of a chat", "gemma2-q8",
                                "-np 1 -c 8192 --checkpoint-min-step 64", growing_chat(50, 90, 260, 30, 120, 200, 40)),
    "no-checkpoints": server("a window whose history changes, without checkpoints", "gemma2-q8",
                             "-np 1 -c 4096 --ctx-checkpoints 0",
                             in_turn(Ask(prompt(400, 1)), Ask(prompt(380, 1) + prompt(20, 2)), Ask(prompt(390, 1)))),
    "all-of-the-window": server("the same with --swa-full", "gemma2-q8", "-np 1 -c 4096 --swa-full",
                                in_turn(Ask(prompt(400, 1)), Ask(prompt(380, 1) + prompt(20, 2)), Ask(prompt(390, 1)))),
    "hybrid": server("state that does not go back: checkpoints", "lfm2-q8", "-np 1 -c 2048",
                     in_turn(Ask(prompt(600, 3), 6), Ask(prompt(600, 3), 6), Ask(prompt(80, 4), 6))),
    "hybrid-four-slots": server("four slots with such states", "lfm2-q8", FOUR,
                                [[Ask(prompt(60 + 30 * i, i), 10, slot=i) for i in range(4)]] * 2),
    "recurrent": server("a model without attention, its prompts again", "mamba-q8", ONE,
                        in_turn(Ask(prompt(90, 1)), Ask(prompt(90, 1)), Ask(prompt(90, 1) + prompt(30, 2)),
                                Ask(prompt(50, 1)))),
    "cached-prefixes": server("a conversation that grows", "dense-q8", ONE,
                              in_turn(*(Ask(prompt(60 + 25 * i, 1), 6) for i in range(5)))),
    "prefixes-in-other-slots": server("prompts that begin alike, in slots of their own", "dense-q8", FOUR,
                                      [[Ask(prompt(50, 1) + prompt(9 * i, i), 7, slot=i) for i in range(4)]] * 3),
    "equal-prompts": server("the same prompt again: all but its last token is cached", "dense-q8", ONE,
                            in_turn(*[Ask(prompt(40, 1), 12)] * 5)),
    "equal-prompts-four-slots": server("the same prompt at the same time", "dense-q8", FOUR,
                                       [[Ask(prompt(40, 1), 12)] * 4] * 2),
    "cache-off": server("the same prompt again, without its cache", "dense-q8", ONE,
                        in_turn(*[Ask(prompt(40, 1), 12, more={"cache_prompt": False})] * 3)),
    "cache-in-memory": server("two conversations in turn, kept in memory", "dense-q8", ONE + "--cache-ram 64",
                              in_turn(*(Ask(prompt(120 + 10 * (i // 2), 1 + i % 2)) for i in range(6)))),
    "cache-reuse": server("parts of a prompt at other positions", "dense-q8", ONE + "--cache-reuse 16",
                          in_turn(Ask(prompt(120, 1)), Ask(prompt(20, 1) + prompt(120, 1)[40:]))),
    "context-shift": server("a full context drops its oldest cells", "dense-q8", "-np 1 -c 256 --context-shift",
                            in_turn(Ask(prompt(30, 2), 500), Ask(prompt(30, 4), 12))),
    "context-shift-four-slots": server("the same in four slots", "dense-q8", "-np 4 -c 1024 --context-shift",
                                       [[Ask(prompt(30, i), 300, slot=i) for i in range(4)]]),
    "cancelled": server("clients that go away", "dense-q8", ONE,
                        in_turn(Ask(prompt(40, 1), 4000, cancel_after=5), Ask(prompt(30, 2)),
                                Ask(prompt(40, 1), 4000, cancel_after=1), Ask(prompt(40, 1)))),
    "cancelled-prompt": server("a client that goes away while its prompt is read", "dense-q8", ONE + "-b 64 -ub 64",
                               in_turn(Ask(prompt(1900, 1), cut_after_s=0.3), Ask(prompt(30, 2)), Ask(prompt(40, 3)))),
    "cancelled-four-slots": server("some of four clients go away", "dense-q8", FOUR,
                                   [[Ask(prompt(40 + i, i), 60 if i % 2 else 4000, slot=i,
                                         cancel_after=None if i % 2 else 5 + i) for i in range(4)]] * 2),
    "chat": server("a conversation", "dense-q8", ONE, growing_chat(9, 20, 6, 15, 12)),
    "experts": server("a mixture of experts", "moe-qwen60", ONE, in_turn(Ask(prompt(40, 1)), Ask(prompt(50, 1), 12))),
    "embeddings": server("texts of several lengths, one after another", "dense-q8", ONE + "--embeddings --pooling mean",
                         in_turn(*(Ask(prompt(n, n), path=EMBEDDING) for n in (12, 30, 18, 55, 20)))),
    "embeddings-four-slots": server("the same in one request", "dense-q8", FOUR + "--embeddings --pooling mean",
                                    in_turn(Ask([prompt(n, n) for n in (12, 30, 18, 55, 20, 41)], path=EMBEDDING))),
    "embeddings-encoder": server("an encoder without a cache", "bert", FOUR + "--embeddings",
                                 in_turn(Ask([prompt(n, n) for n in (12, 30, 18, 55, 20)], path=EMBEDDING),
                                         Ask([prompt(60, 2)], path=EMBEDDING))),
    "reranking": server("documents against a query", "bert-rank", FOUR + "--reranking",
                        in_turn(Ask([TEXT, *(TEXT * n for n in (1, 3, 2, 1, 2))], path=RERANK))),
    "image": server("an image before a question", "dense-q8", ONE + "--mmproj @clip",
                    in_turn(Ask(IMAGE, path=CHAT), Ask(messages(8), path=CHAT), Ask(IMAGE, 5, path=CHAT))),
    "image-positions": server("an image whose tokens have one position (M-RoPE), and again", "qwen2vl",
                              ONE + "--mmproj @merger", in_turn(Ask(IMAGE, path=CHAT), Ask(IMAGE, 5, path=CHAT),
                                                                Ask(messages(8), path=CHAT))),
    "speculation-draft": server("a draft model", "spec-target",
                                ONE + "-md @spec-draft --spec-type draft-simple " + DRAFTS, SPECULATE),
    "speculation-four-slots": server("a draft model for four slots", "spec-target",
                                     FOUR + "-md @spec-draft --spec-type draft-simple " + DRAFTS,
                                     [[Ask(prompt(20 + 5 * i, i), 24 + i, slot=i) for i in range(4)]] * 2),
    "speculation-recurrent": server("a draft for a state that does not go back", "mamba-q8",
                                    ONE + "-md @dense-q8 --spec-type draft-simple " + DRAFTS, SPECULATE),
    "speculation-mtp": server("the model's own layer for the next token", "qwen35",
                              ONE + "--spec-type draft-mtp " + DRAFTS, SPECULATE),
    "speculation-mtp-two-slots": server("the same for two slots", "qwen35",
                                        "-np 2 -c 4096 --spec-type draft-mtp " + DRAFTS,
                                        [[Ask(prompt(20 + 15 * i, i), 24 + i, slot=i) for i in range(2)]] * 2),
    "speculation-eagle3": server("a draft that reads the target's states", "spec-target",
                                 ONE + "-md @eagle3 --spec-type draft-eagle3 " + DRAFTS, SPECULATE),
    "speculation-dflash": server("a draft that guesses a block at once", "spec-target",
                                 ONE + "-md @dflash --spec-type draft-dflash " + DRAFTS, SPECULATE),
    "speculation-dspark": server("such a block, corrected token by token", "spec-target",
                                 ONE + "-md @dspark --spec-type draft-dspark " + DRAFTS, SPECULATE),
    "speculation-ngram-simple": server("guesses from the text", "dense-q8",
                                       ONE + "--spec-type ngram-simple --spec-ngram-simple-size-n 4 "
                                       "--spec-ngram-simple-size-m 8" + drawn(8), LETTERS),
    "speculation-ngram-map-k": server("guesses from a map of the text", "dense-q8",
                                      ONE + "--spec-type ngram-map-k --spec-ngram-map-k-size-n 4 "
                                      "--spec-ngram-map-k-size-m 8" + drawn(8), REPEAT),
    "speculation-ngram-map-k4v": server("the same with four values per key", "dense-q8",
                                        ONE + "--spec-type ngram-map-k4v --spec-ngram-map-k4v-size-n 4 "
                                        "--spec-ngram-map-k4v-size-m 8" + drawn(8), REPEAT),
    "speculation-ngram-mod": server("guesses from hashes of the text", "dense-q8",
                                    ONE + "--spec-type ngram-mod --spec-ngram-mod-n-match 4 "
                                    "--spec-ngram-mod-n-min 2 --spec-ngram-mod-n-max 8" + drawn(8), REPEAT),
    "speculation-ngram-cache": server("guesses from statistics of the text", "dense-q8",
                                      ONE + "--spec-type ngram-cache" + drawn(8), LONG),
    "completion": tool("a prompt and its answer", "llama-completion -m @dense-q8 -n 16 -no-cnv --ignore-eos",
                       prompt=TEXT * 3),
    "completion-small-batches": tool("the same in batches of 16", "llama-completion -m @dense-q8 -n 6 -b 16 -ub 16 "
                                     "-no-cnv --ignore-eos", prompt=TEXT * 12),
    "completion-context-shift": tool("the same over shifts of the context", "llama-completion -m @dense-q8 -c 256 "
                                     "-n 400 --context-shift -no-cnv --ignore-eos", prompt=TEXT),
    "t5": tool("an encoder and its decoder", "llama-completion -m @t5 -n 16 -no-cnv --ignore-eos", said.encoder_decoder,
               prompt=TEXT),
    "parallel": tool("llama-parallel: 6 requests of 3 clients", "llama-parallel -m @dense-q8 -c 8192 -ns 6 -np 3 -n 12",
                     said.parallel),
    "parallel-shared": tool("the same with a system prompt that is computed once", "llama-parallel -m @dense-q8 "
                            "-c 8192 -ns 6 -np 3 -n 12 -pps -kvu", said.shared_prompt),
    "batched-bench": tool("prompts and answers of 1, 2 and 4 sequences", BATCHED_BENCH, said.batched_bench),
    "batched-bench-shared": tool("the same with one prompt for all", BATCHED_BENCH + " -pps -kvu", said.shared_bench),
    "bench": tool("llama-bench: prompts and answers apart", "llama-bench -m @dense-q8 -p 32 -n 8 -r 2 --no-warmup "
                  "-o json", said.bench),
    "lookup": tool("guesses from the prompt", "llama-lookup -m @dense-q8 -c 1024 -n 40 "
                   "--spec-draft-n-max 8 " + SAME_TOKEN, said.lookup, prompt=TEXT * 3),
    "lookahead": tool("guesses in several sequences", "llama-lookahead -m @dense-q8 -c 4096 -n 40 " + SAME_TOKEN,
                      said.lookahead, prompt=TEXT),
    "speculative-simple": tool("a draft model in a tool", "llama-speculative-simple --spec-type draft-simple "
                               "--spec-draft-n-max 4 " + DRAFT_PAIR, said.lookup, prompt=TEXT),
    "speculative": tool("a draft that guesses a tree", "llama-speculative -np 2 -kvu " + DRAFT_PAIR, said.lookup,
                        prompt=TEXT),
    "perplexity": tool("a text in several sequences at once", "llama-perplexity -m @dense-q8 -c 128 --chunks 6 "
                       "-f @TEXT", said.perplexity, text=TEXT * 60),
    "perplexity-batches": tool("a text in several batches", "llama-perplexity -m @dense-q8 -c 512 -b 128 -ub 64 "
                               "--chunks 3 -f @TEXT", said.perplexity, text=TEXT * 120),
    "embedding": tool("texts of several lengths", "llama-embedding -m @bert --verbose-prompt", said.embedding,
                      prompt=f"{TEXT}\none two\n{TEXT * 3}\nthree\n{TEXT * 2}"),
    "image-tool": tool("an image before a question", "llama-mtmd-cli -m @dense-q8 --mmproj @clip --image @IMAGE -n 8 "
                       "-c 1024 --chat-template vicuna --ignore-eos -lv 5", prompt="the first"),
    "diffusion": tool("a text in 8 steps", "llama-diffusion-cli -m @llada -c 256 -ub 64 --diffusion-steps 8 "
                      "--diffusion-eps 0.001", said.diffusion, prompt="the first of them"),
    "tts": tool("speech from a text", "llama-tts -m @pockettts -mm @speech -n 12 -o @WAV", said.speech, prompt=TEXT),
    "passkey": tool("a long prompt with a number in it", "llama-passkey -m @dense-q8 --junk 20", said.passkey),
}

# Scenarios in which the counts differ, and why. One that is equal is an error, so that none stays here.
GAPS = {
    "tts": "the tool takes the output of its last call, too, and makes no frame of it",
}
