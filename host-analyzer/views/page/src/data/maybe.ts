// Values that may be null or missing in the analyzer's documents. A missing value is shown as a dash, never as zero.

export type Maybe<T> = T | null | undefined;
export type Num = Maybe<number>;
export type Str = Maybe<string>;
