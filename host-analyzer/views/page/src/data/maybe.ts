// Values that may be null or missing. The page shows a missing value as a dash, never as zero.

export type Maybe<T> = T | null | undefined;
export type Num = Maybe<number>;
export type Str = Maybe<string>;
