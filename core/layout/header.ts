/** The first words of every command; what they mean is in command.ts. */
export const HEADER = { kind: 'u32', correlation: 'u32', session: 'i32', sessionGeneration: 'u32' } as const
