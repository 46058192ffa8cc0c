/** The programs, in the order in which runs draw them: a new one comes last, so that it changes no other's draws. */
import { BUILDER } from './builder.ts'
import { COPIES } from './copies.ts'
import { LEASES } from './leases.ts'
import type { Program } from './program.ts'
import { REFERRALS } from './referrals.ts'
import { VAULT_PROGRAM } from './vault.ts'

export const PROGRAMS: readonly Program[] = [BUILDER, LEASES, COPIES, REFERRALS, VAULT_PROGRAM]
