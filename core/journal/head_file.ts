/**
 * `journal/head`: a lower bound of where the journal ends that does not depend on LMDB.
 *
 * Two slots of 64 bytes, 512 bytes apart so that they share no sector, written in turn after each durable commit. Not made durable with
 * it: what the system was given survives the process however it ends, and about once a second another thread makes it durable (room.ts),
 * so after a power failure the file may be a second behind, never ahead. A slot that was being written then, or was damaged, leaves the
 * other one. A process that finds here what it did not write has a rival and stops.
 */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { realIo } from '../lib/io.ts'
import { orSystemFault } from '../lib/system_fault.ts'
import { decodeHead, encodeHead, HEAD_BYTES, type Head } from './head.ts'
import type { HeadStorage } from './store.ts'

const SLOT_STRIDE = 512
const FILE_BYTES = SLOT_STRIDE + HEAD_BYTES

export const headPath = (dataDir: string): string => join(dataDir, 'journal', 'head')

/** The head file of a data directory. What the system will not let it read is a SystemFault (lib/system_fault.ts). */
export const headFileOf = (dataDir: string): HeadStorage => ({
  read: () => orSystemFault(headPath(dataDir), () => (existsSync(headPath(dataDir)) ? readFileSync(headPath(dataDir)) : null)),
  open: () => {
    const path = headPath(dataDir)
    const fd = orSystemFault(path, () => openSync(path, existsSync(path) ? 'r+' : 'wx+', 0o600))
    return {
      read: (into) => orSystemFault(path, () => readSync(fd, into, 0, into.length, 0)),
      write: (from, at, length) => void writeSync(fd, from, at, length, at),
      sync: () => {
        fsyncSync(fd)
        realIo.syncDirectory(join(dataDir, 'journal'))
      },
      close: () => closeSync(fd),
    }
  },
})

/** Somebody else wrote to the journal: two processes use one directory. */
export class SecondWriter extends Error {
  override name = 'SecondWriter'
}

/** What the head file says: its newest whole slot, and what is wrong with it; both empty: there is no file. */
export interface HeadFileState {
  readonly head: Head | null
  readonly damage: readonly string[]
}

/** What a head file says. Throws what the file system throws, save that there is no file. */
export function readHeadFile(storage: HeadStorage): HeadFileState {
  const bytes = storage.read()
  return bytes === null ? { head: null, damage: [] } : slotsOf(bytes)
}

/**
 * Whether the head file knows of no batch: it is missing, or was made by a first start that was interrupted, or whose disk failed, before
 * anything was in the journal. Throws what the file system throws.
 */
export function knowsNothing(storage: HeadStorage): boolean {
  const bytes = storage.read()
  if (bytes === null) return true
  const { head } = slotsOf(bytes)
  return head === null ? bytes.every((byte) => byte === 0) : head.next === 1
}

function slotsOf(bytes: Buffer): HeadFileState {
  const damage: string[] = []
  let head: Head | null = null
  for (const slot of [0, 1]) {
    const read = decodeHead(bytes, slot * SLOT_STRIDE)
    if (typeof read === 'string') damage.push(`slot ${slot}: ${read}`)
    else if (read.number % 2 !== slot) damage.push(`slot ${slot}: write ${read.number} belongs into the other one`)
    else if (head === null || read.number > head.number) head = read
  }
  return { head, damage }
}

export interface HeadFile {
  /** Throws {@link SecondWriter} when the file is not as this process left it. */
  check(): void
  /** Writes `head` into the slot whose turn it is; numbers it. */
  write(head: Head): void
  /** What was written is durable when it returns. */
  sync(): void
  close(): void
}

/** Opens the file for writing, made if need be, and writes `head` into both slots; durable when it returns. */
export function openHeadFile(storage: HeadStorage, head: Head): HeadFile {
  const found = readHeadFile(storage).head
  const handle = storage.open()
  /** The file as this process wrote it, and what it reads to compare. */
  const [own, seen] = [Buffer.alloc(FILE_BYTES), Buffer.alloc(FILE_BYTES)]
  let number = found === null ? 0 : found.number
  const file: HeadFile = {
    check: () => {
      if (handle.read(seen) === FILE_BYTES && own.equals(seen)) return
      throw new SecondWriter('another process wrote to journal/head: two exchanges use this data directory; stop both, then start one')
    },
    write: (next) => {
      number++
      next.number = number
      const at = (number % 2) * SLOT_STRIDE
      encodeHead(own, at, next)
      handle.write(own, at, HEAD_BYTES)
    },
    sync: () => handle.sync(),
    close: () => handle.close(),
  }
  file.write(head)
  file.write(head)
  handle.write(own, 0, FILE_BYTES)
  handle.sync()
  return file
}
