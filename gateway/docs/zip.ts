/**
 * A ZIP file of a few small texts (PKWARE APPNOTE 6.3), stored without compression and dated 1980-01-01: the same files give the same
 * bytes. Names are ASCII; each file and the whole are below 4 GiB, and there are fewer than 65,536 of them.
 */
import { crc32 } from 'node:zlib'

const LOCAL = 0x04034b50
const CENTRAL = 0x02014b50
const END = 0x06054b50
/** Version of the format that is needed to read it: 1.0. */
const VERSION = 10
/** 1980-01-01, the first day it knows. */
const DATE = 0x21

/** The fields that a file's own header and the directory have in common: from the version to the length of the extra field. */
function common(name: Buffer, bytes: Uint8Array): Buffer {
  const fields = Buffer.alloc(26)
  fields.writeUInt16LE(VERSION, 0)
  fields.writeUInt16LE(DATE, 8)
  fields.writeUInt32LE(crc32(bytes), 10)
  fields.writeUInt32LE(bytes.length, 14)
  fields.writeUInt32LE(bytes.length, 18)
  fields.writeUInt16LE(name.length, 22)
  return fields
}

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

export function zip(files: readonly (readonly [path: string, bytes: Uint8Array])[]): Buffer {
  const parts: Uint8Array[] = []
  const directory: Uint8Array[] = []
  let offset = 0
  for (const [path, bytes] of files) {
    const name = Buffer.from(path)
    const fields = common(name, bytes)
    const version = fields.subarray(0, 2)
    // Behind the common fields: comment, disk, attributes (none), and where the file's own header is.
    directory.push(word(CENTRAL), version, fields, Buffer.alloc(10), word(offset), name)
    parts.push(word(LOCAL), fields, name, bytes)
    offset += 4 + fields.length + name.length + bytes.length
  }
  const list = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(END, 0)
  end.writeUInt16LE(files.length, 8)
  end.writeUInt16LE(files.length, 10)
  end.writeUInt32LE(list.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...parts, list, end])
}
