/**
 * Errors of the operating system and of SQLite by what they mean for whoever runs the exchange: something that he has to set
 * right, or a disk that fails or is full. The words name the place and what to do.
 */

export class SystemFault extends Error {
  override name = 'SystemFault'
  /** The disk or a limit of the system is at fault, which may be over at the next start; else the directory is not what it must be. */
  readonly disk: boolean
  constructor(message: string, disk: boolean) {
    super(message)
    this.disk = disk
  }
}

const PERMISSION = ['EACCES', 'EPERM', 'SQLITE_READONLY', 'SQLITE_PERM', 'SQLITE_CANTOPEN', 'SQLITE_AUTH']
const READ_ONLY = ['EROFS', 'SQLITE_READONLY_ROFS']
const SPACE = ['ENOSPC', 'EDQUOT', 'EFBIG', 'SQLITE_FULL']
const DESCRIPTORS = ['EMFILE', 'ENFILE']
const NO_DATABASE = ['SQLITE_NOTADB', 'SQLITE_CORRUPT']

/** What to do about an error code; `null`: it is none of these. */
function advice(code: string): [words: string, disk: boolean] | null {
  // SQLite's codes have finer ones: SQLITE_CANTOPEN_ISDIR.
  const is = (codes: readonly string[]): boolean =>
    codes.some((one) => code === one || (one.startsWith('SQLITE') && code.startsWith(`${one}_`)))
  if (is(READ_ONLY)) return ['it is on a file system that is mounted read-only: mount it for writing', false]
  if (is(PERMISSION)) return ['give it, and the directory it is in, to the user that runs the exchange, readable and writable', false]
  if (code === 'ENOTDIR' || code === 'EEXIST') return ['something else than a directory is in its way: name another --data-dir', false]
  if (code === 'ELOOP' || code === 'ENAMETOOLONG') return ['this cannot be the name of a file: name another', false]
  if (code === 'EISDIR') return ['it is a directory where a file must be: move it away', false]
  if (code === 'ENOENT') return ['there is no such file: name another', false]
  if (is(NO_DATABASE)) return ['it is damaged or another file: remove it while no exchange runs on the directory', false]
  if (is(SPACE)) return ['the disk, or what this user may use of it, is full: make room', true]
  if (is(DESCRIPTORS)) return ['no more files may be opened: raise LimitNOFILE, or ulimit -n', true]
  return code === 'EIO' || code.startsWith('SQLITE_IOERR') ? ["the disk fails: look at the kernel's log", true] : null
}

/** Errors of the system as LMDB numbers them. */
const NUMBERED: Readonly<Record<number, string>> = {
  1: 'EPERM', 5: 'EIO', 13: 'EACCES', 23: 'ENFILE', 24: 'EMFILE', 27: 'EFBIG', 28: 'ENOSPC', 30: 'EROFS', 122: 'EDQUOT',
}

/** The fault with which `place` cannot be used; an error that is none of the system's is returned as it is. */
export function systemFault(error: unknown, place: string): Error {
  const { code: given, message } = error as { code?: unknown; message: string }
  const code = typeof given === 'number' ? NUMBERED[given] : given
  const found = typeof code === 'string' ? advice(code) : null
  if (found === null) return error as Error
  const [words, disk] = found
  return new SystemFault(`${place} cannot be used (${code}, ${message}): ${words}`, disk)
}

/** What `work` returns; what the system throws in it becomes the fault with which `place` cannot be used. */
export function orSystemFault<T>(place: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw systemFault(error, place)
  }
}
