"""Small working vocabularies for random-weight models: one for each kind of tokenizer."""

WORDS = """the of and to in a is that for it as was with be by on not he his but at are this have from
or had an they which you were her all she there would their we him been has when who will more no if
out so said what up its about into than them can only other new some could time these two may then do
first any my now such like our over man me even most made after also did many before must through back
years where much your way well down should because each just those people how little state good very
make world still own see work long get here between both life being under never day same another know
while last might us great old year off come since against go right used take three""".split()
LETTERS = "abcdefghijklmnopqrstuvwxyz"
MERGED = [" the", " of", " and", " to", " in", " is", " that", " for", " it", "ing", "er", "on", "an", "re", "at"]
NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6


def add_spm_vocab(w, n):
    """SentencePiece: bytes, letters, common words with all their beginnings, then fillers up to n."""
    tokens = {}

    def add(text, score, kind=NORMAL):
        if len(tokens) < n:
            tokens.setdefault(text, (score, kind))

    add("<unk>", 0.0, UNKNOWN)
    add("<s>", 0.0, CONTROL)
    add("</s>", 0.0, CONTROL)
    for i in range(256):
        add(f"<0x{i:02X}>", 0.0, BYTE)
    for c in "▁" + LETTERS + LETTERS.upper() + "0123456789.,;:!?'\"()-\n":
        add(c, -1000.0)
    rank = 0
    for word in WORDS:
        for j in range(2, len(word) + 2):  # a merge needs its left part to be a token as well
            rank += 1
            add(("▁" + word)[:j], -float(rank))
    filler = 0
    while len(tokens) < n:
        add(f"▁w{filler}", -5000.0 - filler)
        filler += 1
    w.add_tokenizer_model("llama")
    w.add_tokenizer_pre("default")
    w.add_token_list(list(tokens))
    w.add_token_scores([s for s, _ in tokens.values()])
    w.add_token_types([k for _, k in tokens.values()])
    w.add_bos_token_id(1)
    w.add_eos_token_id(2)
    w.add_unk_token_id(0)
    w.add_add_bos_token(True)
    w.add_add_space_prefix(True)


def byte_letters():
    """The 256 printable letters that stand for bytes in byte-level BPE vocabularies."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in plain]
    return {**{b: chr(b) for b in plain}, **{b: chr(256 + i) for i, b in enumerate(others)}}


def add_bpe_vocab(w, n):
    """Byte-level BPE: the bytes, a few merges, fillers, and the end of text as token n-1."""
    letter = byte_letters()
    tokens, merges = [letter[b] for b in range(256)], []
    for word in MERGED:
        text = "".join(letter[b] for b in word.encode())
        for j in range(1, len(text)):
            if text[:j + 1] not in tokens:
                tokens.append(text[:j + 1])
                merges.append(f"{text[:j]} {text[j]}")
    tokens += [f"[w{i}]" for i in range(n - 1 - len(tokens))] + ["<|endoftext|>"]
    w.add_tokenizer_model("gpt2")
    w.add_tokenizer_pre("qwen2")
    w.add_token_list(tokens)
    w.add_token_types([NORMAL] * (n - 1) + [CONTROL])
    w.add_token_merges(merges)
    w.add_eos_token_id(n - 1)
    w.add_bos_token_id(n - 1)
    w.add_add_bos_token(False)
