/** Read models of funding: what each position got or paid, by account, and the rate of every interval, by pair. */
import { FUNDING_PAYMENT, FUNDING_RATE } from '../../layout/event.ts'
import type { Views } from '../../layout/table.ts'
import { FUNDING_PAYMENT_RECORD, FUNDING_RATE_RECORD } from '../store/margin_layout.ts'
import type { Tables } from '../store/heads.ts'

const { at: PAY } = FUNDING_PAYMENT
const { at: RATE } = FUNDING_RATE
const { at: P } = FUNDING_PAYMENT_RECORD
const { at: R } = FUNDING_RATE_RECORD
/** Pages in memory: only the last of each account or pair is ever changed. */
const PAYMENT_PAGES = 4096
const RATE_PAGES = 256

export interface FundingModel {
  /** FUNDING_PAYMENT. */
  paid(events: Views, base: number): void
  /** FUNDING_RATE. */
  rated(events: Views, base: number): void
  flush(): void
}

export function createFunding(tables: Tables): FundingModel {
  const payments = tables.pages('funding_payment_page', PAYMENT_PAGES)
  const rates = tables.pages('funding_rate_page', RATE_PAGES)
  return {
    paid: ({ i32, f64, i64 }, base) => {
      const at = payments.append(i32[base + PAY.account]!)
      const to = payments.views
      to.f64[(at + P.sequence) >>> 1] = f64[(base + PAY.sequence) >>> 1]!
      to.f64[(at + P.time) >>> 1] = f64[(base + PAY.time) >>> 1]!
      to.f64[(at + P.openedSequence) >>> 1] = f64[(base + PAY.openedSequence) >>> 1]!
      to.i64[(at + P.amount) >>> 1] = i64[(base + PAY.amount) >>> 1]!
      to.i32[at + P.position] = i32[base + PAY.position]!
      to.i32[at + P.pair] = i32[base + PAY.pair]!
      to.i32[at + P.lots] = i32[base + PAY.lots]!
      to.i32[at + P.rate] = i32[base + PAY.rate]!
      to.i32[at + P.mark] = i32[base + PAY.mark]!
    },
    rated: ({ i32, f64 }, base) => {
      const at = rates.append(i32[base + RATE.pair]!)
      const to = rates.views
      to.f64[(at + R.sequence) >>> 1] = f64[(base + RATE.sequence) >>> 1]!
      to.f64[(at + R.time) >>> 1] = f64[(base + RATE.time) >>> 1]!
      to.f64[(at + R.openLots) >>> 1] = f64[(base + RATE.openLots) >>> 1]!
      to.i32[at + R.rate] = i32[base + RATE.rate]!
      to.i32[at + R.samples] = i32[base + RATE.samples]!
      to.i32[at + R.index] = i32[base + RATE.index]!
      to.i32[at + R.mark] = i32[base + RATE.mark]!
    },
    flush: () => {
      payments.flush()
      rates.flush()
    },
  }
}
