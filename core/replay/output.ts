/** Where the tools write: standard output, which may be a pipe that is full or gone, and files of an export. */
import { closeSync, openSync, renameSync, writeSync } from 'node:fs'

const STDOUT = 1
/** Characters that are kept before they are written. */
const KEPT = 1 << 16

/** A pipe may be full or gone: wait for the one, end quietly for the other. Bytes that were written. */
function writeSome(fd: number, bytes: Uint8Array, at: number): number {
  try {
    return writeSync(fd, bytes, at)
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === 'EPIPE' && fd === STDOUT) process.exit(0)
    if (code !== 'EAGAIN') throw error
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
    return 0
  }
}

/** What is asked before bytes are written to a file: throws when there is no room for more. */
export type CheckRoom = (bytes: number) => void

/** Bytes in order, to a file that has its name when it is whole, or to standard output. Its owner's alone. */
export class Output {
  readonly #fd: number
  readonly #path: string | null
  readonly #checkRoom: CheckRoom
  #text = ''

  /** `path` null: standard output. */
  constructor(path: string | null, checkRoom: CheckRoom = () => undefined) {
    this.#path = path
    this.#checkRoom = checkRoom
    this.#fd = path === null ? STDOUT : openSync(unfinished(path), 'wx', 0o600)
  }

  write(text: string): void {
    this.#text += text
    if (this.#text.length >= KEPT) this.#flush()
  }

  bytes(bytes: Uint8Array): void {
    if (this.#path !== null) this.#checkRoom(bytes.length)
    for (let at = 0; at < bytes.length; ) at += writeSome(this.#fd, bytes, at)
  }

  close(): void {
    this.#flush()
    if (this.#path === null) return
    closeSync(this.#fd)
    renameSync(unfinished(this.#path), this.#path)
  }

  #flush(): void {
    if (this.#text !== '') this.bytes(Buffer.from(this.#text))
    this.#text = ''
  }
}

const unfinished = (path: string): string => `${path}.part`
