/** Promise: a certificate that a port could not use is refused in words that name the setting, the file and what is wrong. */
import { generateKeyPairSync, X509Certificate } from 'node:crypto'
import { chmodSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { readCertificate, readNewCertificate, type CertificateFiles } from '../../core/certificates.ts'
import { certificateFiles, makeCertificate } from '../support/certificates.ts'
import { removeDirectory } from '../support/exchange.ts'

const directory = mkdtempSync(join(tmpdir(), 'ringbook-certificates-'))
t.teardown(() => removeDirectory(directory))
const good = makeCertificate(30)
const files = certificateFiles(directory, good)
const at: CertificateFiles = { flags: ['--tls-cert', '--tls-key'], cert: files.cert, key: files.key }
const refused = (message: RegExp): { name: string; message: RegExp } => ({ name: 'ConfigError', message })

t.test('a good pair, and when it expires: the first of the chain to do so', async (t) => {
  t.equal(readCertificate({ ...at, cert: '', key: '' }), null, 'none is configured')
  t.equal(readCertificate(at)?.expiresAt, Date.parse(new X509Certificate(good.cert).validTo))
  const authority = makeCertificate(10)
  files.write({ cert: `Bag Attributes\n${good.cert}\n${authority.cert}` })
  t.equal(readCertificate(at)?.expiresAt, Date.parse(new X509Certificate(authority.cert).validTo))
})

t.test('what is wrong with others', async (t) => {
  t.throws(() => readCertificate({ ...at, cert: '/nowhere/cert' }), refused(/^--tls-cert: \/nowhere\/cert cannot be read: ENOENT/))
  t.throws(() => readCertificate({ ...at, key: '/nowhere/key' }), refused(/^--tls-key: \/nowhere\/key cannot be read: ENOENT/))
  t.throws(() => readCertificate({ ...at, key: directory }), refused(/^--tls-key: .* cannot be read: EISDIR/))
  const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  const locked = key.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' }) as string
  for (const [change, words] of [
    [{ ...good, key: makeCertificate().key }, /^--tls-key: the key in .* does not belong to the certificate in /],
    [{ ...good, cert: good.key }, /^--tls-cert: .* has no certificate in PEM/], [{ ...good, cert: '' }, /no certificate/],
    [{ ...good, cert: good.cert.replace(/\n.{8}/, '\nAAAAAAAA') }, /^--tls-cert: .*cannot be read; it must be X\.509/],
    [{ ...good, key: good.cert }, /^--tls-key: .* has no private key in PEM/], [{ ...good, key: locked }, /passphrase/],
  ] as const) {
    files.write(change)
    t.throws(() => readCertificate(at), refused(words))
  }
})

t.test('a key is not for everybody on the machine', async (t) => {
  files.write(good)
  for (const mode of [0o644, 0o604, 0o602]) {
    chmodSync(files.key, mode)
    t.throws(() => readCertificate(at), refused(/^--tls-key: everybody on this machine may use .* \(chmod o= /), mode.toString(8))
  }
  chmodSync(files.key, 0o640)
  t.ok(readCertificate(at), 'the group may be one of those that have keys')
})

t.test('one that expired is used at a start, and never in place of another', async (t) => {
  files.write(makeCertificate(-1))
  t.ok(readCertificate(at)!.expiresAt < Date.now())
  t.throws(() => readNewCertificate(at), refused(/^--tls-cert: the certificate in .* expired on 2/))
})
