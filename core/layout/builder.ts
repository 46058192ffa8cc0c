/** Commands of the builder-codes program (programs/builder.ts). */
import { HEADER } from './header.ts'
import { defineLayout } from './table.ts'

/** Hundredths of a per cent that an application may add for a side, at most, whatever the operator's cap is. */
export const BUILDER_CAP_MOST_BPS = 100
/** Parts of a million of a basis point. */
export const PPM_OF_BPS = 100
/** In place of a fee: it stays what it is. */
export const UNCHANGED = -1

/** Operator: the program as a whole. */
export const SET_BUILDER_PROGRAM_COMMAND = defineLayout('set_builder_program', {
  ...HEADER,
  /** Most that an application may add for a side, 0 .. {@link BUILDER_CAP_MOST_BPS}. */
  capBps: 'i32',
  /** 1: orders are placed with the fees of their application; 0: with none. */
  builderFees: 'i32',
  /** Part of the net fee income of the house that goes to the application of whoever paid it, ppm; 0: none, switched off. */
  revenueSharePpm: 'i32',
  reserved: 'i32',
})

/** Operator: an application takes part, with this payout wallet. */
export const ENROLL_APPLICATION_COMMAND = defineLayout('enroll_application', {
  ...HEADER,
  application: 'i32',
  /** Row of the payout wallet's account, a user of the application; -1: as it is. */
  account: 'i32',
  /** The sequence that made the account. */
  createdSequence: 'f64',
  /** 0: it takes part no more. */
  active: 'i32',
  /** Fees from now on, bps, or {@link UNCHANGED}. These are no changes of the application's own. */
  bps: 'i32',
  makerBps: 'i32',
  reserved: 'i32',
})

/** Signed by the payout wallet: what the application adds. */
export const SET_BUILDER_FEE_COMMAND = defineLayout('set_builder_fee', {
  ...HEADER,
  bps: 'i32',
  /** Or {@link UNCHANGED}. */
  makerBps: 'i32',
})
