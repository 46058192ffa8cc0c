/** Types of inline_accessors.mjs. */
export declare function inlineAccessors(code: string, modules: readonly string[]): { start: number, end: number, text: string }[]
