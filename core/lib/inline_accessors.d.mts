/** Types of inline_accessors.mjs. */
export declare function inlineAccessors(
  code: string, modules: readonly string[], layouts?: readonly { name: string, module: string, at: object }[],
): { start: number, end: number, text: string }[]
