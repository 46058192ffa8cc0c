/** Managed markets: launches and the lease of their maker, as commands (programs/launches.ts). */
import { HEADER } from './header.ts'
import { defineLayout } from './table.ts'

/** Most launches, those that ended included. */
export const LAUNCHES_MAX = 256
/** How long a lease may last, ms. */
export const LEASE_MS_MIN = 1000
export const LEASE_MS_MAX = 3_600_000
/** Highest generation that a launch begins with: those of its claims stay far below what a record can say. */
export const FIRST_GENERATION_MAX = 2 ** 40
/** A holder refreshes its lease so many times before it would end. */
export const REFRESHES = 3

/** What its maker is told; only the last one means something to the engine. The numbers are part of the journal and snapshot format. */
export const LaunchPhase = {
  PREPARING: 0, LIVE: 1, CLOSING: 2,
  /** For ever: no lease is given, nobody is fenced out, and the pair is free for another launch. */
  ENDED: 3,
} as const
export const LAUNCH_PHASE_NAMES = ['PREPARING', 'LIVE', 'CLOSING', 'ENDED'] as const
export type LaunchPhaseName = (typeof LAUNCH_PHASE_NAMES)[number]

/** Of lane 0: a launch, or other terms of one. */
export const SET_LAUNCH_COMMAND = defineLayout('set_launch', {
  ...HEADER,
  /** Of a change -1: a launch keeps its pair. */
  pair: 'i32',
  /** The maker: row of the account. Here and below -1 of a change: as it is. */
  account: 'i32',
  /** {@link LaunchPhase}. */
  phase: 'i32',
  leaseMs: 'i32',
  /** The sequence that made the account. */
  createdSequence: 'f64',
  /** Of a new launch: the generation that its first claim must expect. */
  generation: 'f64',
  /** 1: there must be none of this id yet; 0: there must be one. */
  isNew: 'i32',
  reserved: 'i32',
  /** Its id: visible ASCII, zero padded. */
  launchId: 'bytes40',
})

/** Of the maker: the lease of a launch, for a process that calls itself `owner`. */
export const CLAIM_LEASE_COMMAND = defineLayout('claim_lease', {
  ...HEADER,
  expectedGeneration: 'f64',
  launchId: 'bytes40',
  /** Visible ASCII, zero padded. */
  owner: 'bytes64',
})
