/** Where a handler can fail (faulty_gateway.ts). */
export const FAULTS = ['handler', 'output', 'onResult', 'onRecord', 'onDeadline', 'history', 'sign-in', 'book', 'timer'] as const
export type Fault = (typeof FAULTS)[number]
