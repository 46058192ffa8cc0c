/** Types of inline_accessors.mjs. */
export declare function inlineAccessors(code: string, module: string): { start: number, end: number, text: string }[]
