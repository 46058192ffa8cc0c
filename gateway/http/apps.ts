/**
 * What serves the port of REST and WebSocket: one application of the library, or with a certificate one that listens and one for each
 * certificate there was.
 *
 * The library cannot change the certificate of an application. So the one that listens serves nothing: it hands every connection that it
 * accepts to the newest of the others, in the same thread. Another certificate is another application with the same routes; connections
 * of the one before go on in that. The listening socket stays the same, so no connection is lost on the way. What an old application
 * holds, some 50 KB, is given back when the thread ends.
 */
import { App, SSLApp, type AppOptions, type TemplatedApp } from 'uWebSockets.js'
import {
  readCertificate, readNewCertificate, TLS12_CIPHERS, type Certificate, type CertificateFiles,
} from '../../core/certificates.ts'
import { ConfigError } from '../../core/config.ts'

/** Of the library, and not among its types: an application may hand its connections to others. */
interface Handing extends TemplatedApp {
  getDescriptor(): unknown
  addChildAppDescriptor(descriptor: unknown): void
  removeChildAppDescriptor(descriptor: unknown): void
}

type Setup = (app: TemplatedApp) => void

export class Apps {
  /** What listens. */
  readonly front: TemplatedApp
  readonly #files: CertificateFiles
  readonly #setups: Setup[] = []
  /** All that serve or served; the last one serves new connections. */
  readonly #serving: TemplatedApp[]
  #certificate: Certificate | null

  /** Throws ConfigError when the certificate is not good. */
  constructor(files: CertificateFiles) {
    this.#files = files
    this.#certificate = readCertificate(files)
    if (this.#certificate === null) {
      this.front = App()
      this.#serving = [this.front]
      return
    }
    this.front = SSLApp({})
    this.#serving = [this.#create(this.#certificate)]
    this.#hand().addChildAppDescriptor((this.#serving[0] as Handing).getDescriptor())
  }

  /** When the certificate expires, Unix ms; 0 without one. */
  get expiresAt(): number {
    return this.#certificate?.expiresAt ?? 0
  }

  /** Routes of every application, those to come too. */
  serve(setup: Setup): void {
    this.#setups.push(setup)
    for (const app of this.#serving) setup(app)
  }

  /** Takes the certificate that the files have now for new connections. Throws ConfigError when it is not good, and keeps the old one. */
  renew(): void {
    const certificate = readNewCertificate(this.#files)
    if (certificate === null || certificate.digest === this.#certificate?.digest) return
    const old = this.#serving.at(-1) as Handing
    const app = this.#create(certificate) as Handing
    for (const setup of this.#setups) setup(app)
    this.#hand().addChildAppDescriptor(app.getDescriptor())
    this.#hand().removeChildAppDescriptor(old.getDescriptor())
    this.#serving.push(app)
    this.#certificate = certificate
  }

  /** Closes every connection. */
  close(): void {
    this.front.close()
    for (const app of this.#serving) if (app !== this.front) app.close()
  }

  #hand(): Handing {
    return this.front as Handing
  }

  /** An application with the pair that was read. The library reads the files once more, by their names. */
  #create({ digest }: Certificate): TemplatedApp {
    const { cert, key } = this.#files
    const options: AppOptions = { cert_file_name: cert, key_file_name: key, ssl_ciphers: TLS12_CIPHERS }
    let app: TemplatedApp
    try {
      app = SSLApp(options)
    } catch {
      throw new ConfigError(`${this.#files.flags[0]}: ${cert} and ${key} cannot be used for TLS; RSA and ECDSA with P-256 can`)
    }
    if (readCertificate(this.#files)?.digest === digest) return app
    throw new ConfigError(`${this.#files.flags[0]}: ${cert} or ${key} changed while they were read: read them again`)
  }
}
