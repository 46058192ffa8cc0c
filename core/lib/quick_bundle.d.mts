/** Types of quick_bundle.mjs. */
export declare const KEPT: number
export declare function cacheDirectories(): string[]
export declare function bundleOf(entry: string, directories?: readonly string[], kind?: 'hot' | 'thread'): string
