/** Copy trading, as commands and as the events that tell of it. What it does is in orders/copy_step.ts and programs/follows.ts. */
import { HEADER } from './header.ts'
import { defineLayout } from './table.ts'

export const LeaderState = {
  /** Its handle names it. */
  REGISTERED: 1,
  /** Its handle names no one, and is nobody else's until the pause is over; those who follow it are still mirrored. */
  RELEASED: 2,
  /** Its handle may be another's; the row is there for those who follow it. */
  NAMELESS: 3,
} as const
export const LEADER_STATE_NAMES = ['', 'REGISTERED', 'RELEASED', 'NAMELESS'] as const
/** Why LEADER is told. */
export const LeaderReason = { REGISTERED: 0, RELEASED: 1, FORGOTTEN: 2 } as const
export const LEADER_REASON_NAMES = ['REGISTERED', 'RELEASED', 'FORGOTTEN'] as const

export const FollowState = {
  ACTIVE: 1,
  /** Only what reduces is mirrored. */
  CLOSE_ONLY: 2,
  /** Its positions are being closed; nothing is mirrored. */
  STOPPING: 3,
  STOPPED: 4,
} as const
export const FOLLOW_STATE_NAMES = ['', 'ACTIVE', 'CLOSE_ONLY', 'STOPPING', 'STOPPED'] as const
/** Why FOLLOW is told. */
export const FollowReason = {
  CREATED: 0, UPDATED: 1,
  /** An order was entered, `orderSlot`: `lots`, signed, of `pair`. */
  COPIED: 2,
  /** No order was entered, or not all of it was filled; `code` is why. */
  SKIPPED: 3,
  STOPPING: 4,
  /** An order of a stop was entered. */
  CLOSED: 5,
  STOPPED: 6,
} as const
export const FOLLOW_REASON_NAMES = ['CREATED', 'UPDATED', 'COPIED', 'SKIPPED', 'STOPPING', 'CLOSED', 'STOPPED'] as const

/** Bytes of a handle: letters, digits, `_` and `-`; at least {@link HANDLE_LEAST}. */
export const HANDLE_BYTES = 24
export const HANDLE_LEAST = 3
export const HANDLE_WORDS = HANDLE_BYTES / 4

export const REGISTER_LEADER_COMMAND = defineLayout('register_leader', {
  ...HEADER,
  /** Bytes of the handle. */
  length: 'i32',
  reserved: 'i32',
  /** Zero padded. */
  handle: 'bytes24',
})

export const RELEASE_LEADER_COMMAND = defineLayout('release_leader', { ...HEADER })

export const CREATE_FOLLOW_COMMAND = defineLayout('create_follow', {
  ...HEADER,
  length: 'i32',
  /** MarginMode of the copy positions. */
  mode: 'i32',
  /** The leader's. */
  handle: 'bytes24',
  /** Atoms of the collateral asset. */
  allocation: 'i64',
  /** Hundredths; 0: as the leader's. */
  maxLeverage: 'i32',
  reserved: 'i32',
})

/** Fields that UPDATE_FOLLOW sets. */
export const FollowField = { STATE: 1, ALLOCATION: 2 } as const
export const UPDATE_FOLLOW_COMMAND = defineLayout('update_follow', {
  ...HEADER,
  follow: 'i32',
  /** {@link FollowField} bits. */
  fields: 'i32',
  createdSequence: 'f64',
  /** ACTIVE or CLOSE_ONLY. */
  state: 'i32',
  reserved: 'i32',
  allocation: 'i64',
})

export const STOP_FOLLOW_COMMAND = defineLayout('stop_follow', {
  ...HEADER,
  follow: 'i32',
  reserved: 'i32',
  createdSequence: 'f64',
})

/** Operator: copy trading as a whole (programs/copy_program.ts). */
export const SET_COPY_PROGRAM_COMMAND = defineLayout('set_copy_program', {
  ...HEADER,
  /** 1: on; 0: nobody begins to lead or to follow, and nothing that opens is mirrored. */
  on: 'i32',
  reserved: 'i32',
})

/** What a COPY_STEP goes on with: what leaders did; stops, and what live follows could not close. */
export const CopyWork = { FILLS: 0, STOPS: 1 } as const
/** Of the sequencer itself: the next part of what there is to mirror, or to close. */
export const COPY_STEP_COMMAND = defineLayout('copy_step', { ...HEADER, work: 'i32', reserved: 'i32' })

/** A leader after something happened to it. */
export const LEADER_CHANGED = defineLayout('leader_changed', {
  kind: 'u32',
  account: 'i32',
  sequence: 'f64',
  time: 'f64',
  /** Identity: with the row. */
  createdSequence: 'f64',
  leader: 'i32',
  /** {@link LeaderState} | {@link LeaderReason} << 8. */
  what: 'i32',
  /** Live follows of it. */
  followers: 'i32',
  length: 'i32',
  handle: 'bytes24',
})
export const leaderStateOf = (what: number): number => what & 0xff
export const leaderReasonOf = (what: number): number => (what >>> 8) & 0xff

/** A follow after something happened to it. */
export const FOLLOW_CHANGED = defineLayout('follow_changed', {
  kind: 'u32',
  account: 'i32',
  sequence: 'f64',
  time: 'f64',
  /** Identity: with the row. */
  createdSequence: 'f64',
  follow: 'i32',
  /** {@link FollowState} | {@link FollowReason} << 8. */
  what: 'i32',
  /** The leader's account, and row. */
  leaderAccount: 'i32',
  leader: 'i32',
  leaderSequence: 'f64',
  /** Atoms. */
  allocation: 'i64',
  marginAccount: 'i32',
  mode: 'i32',
  /** The sequence that made the margin account. */
  marginSequence: 'f64',
  /** Hundredths; 0: as the leader's. */
  maxLeverage: 'i32',
  /** Of what was copied, skipped or closed; otherwise -1. Of a skip -1: it is of no pair. */
  pair: 'i32',
  lots: 'i32',
  /** Slot of the order, whose sequence is the event's; otherwise -1. */
  orderSlot: 'i32',
  /** SKIPPED: number of the refusal. */
  code: 'i32',
  /** Of an order that traded: ticks of the leader's fill, of a stop the mark; 0: not known. */
  reference: 'i32',
  /** How much worse than that it traded, hundredths of a basis point; negative: better. */
  slippage: 'i32',
  reserved: 'i32',
})
export const followStateOf = (what: number): number => what & 0xff
export const followReasonOf = (what: number): number => (what >>> 8) & 0xff
