/** ccxt's class for each refusal, from the register. In the package the same as data (build/sources.ts). */
import { REFUSALS, type Refusal } from '../../../core/layout/refusals.ts'

export const CCXT_CLASS: Readonly<Record<string, string>> =
  Object.fromEntries(Object.values<Refusal>(REFUSALS).map(({ code, ccxt }) => [code, ccxt]))
