/** Types of quick_inlining.mjs. */
export declare function allowInlining(): void
