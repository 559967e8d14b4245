/** What the bundle of kbuild has instead of parts of ssh2. */
import { readFileSync } from 'node:fs';
import type { Plugin } from 'esbuild';

/** A change to the text of a file of ssh2: the pattern must match once. */
type Change = readonly [name: string, pattern: RegExp, instead: string];

const CLIENT_CHANGES: readonly Change[] = [
  // ssh2 has every server prove each of its host keys after the login, for programs that record them: a round trip, and
  // as many signatures as the server has keys. kbuild verifies the key of the connection before the login, and records
  // no other.
  ['hostKeysProve', /^ *hostKeysProve\(this, data, [^]*?\n *\}\);\n/m, ''],
  // ssh2 asks first whether the server would take a key, and signs when it says so: a round trip. RFC 4252, 7, allows
  // the signature at once. Keys with several algorithms (RSA) are asked about as before.
  [
    'authPK of a key',
    /^( *)proto\.authPK\(username, curAuth\.key, keyAlgo\);\n/m,
    [
      'if (curAuth.keyAlgos) proto.authPK(username, curAuth.key, keyAlgo);',
      'else proto.authPK(username, curAuth.key, keyAlgo, (buf, cb) => {',
      '  const signature = curAuth.key.sign(buf);',
      "  if (signature instanceof Error) skipAuth('Skipping key authentication: ' + signature.message);",
      '  else cb(signature);',
      '});',
      '',
    ].join('\n'),
  ],
  // The first key signs behind the request for the service that it is for, as Dropbear's client does it, without the
  // answer that the service is there: a round trip. One with several algorithms (RSA) needs the server's words before
  // that answer, and an agent may ask its user.
  [
    'proto.service',
    /^ *proto\.service\('ssh-userauth'\);\n/m,
    "proto.service('ssh-userauth');\nif (signsAtOnce(cfg)) tryNextAuth();\n",
  ],
  [
    'SERVICE_ACCEPT',
    /if \(name === 'ssh-userauth'\)\n( *tryNextAuth\(\);)/,
    "if (name === 'ssh-userauth' && !signsAtOnce(cfg)) $1",
  ],
  [
    'class Client',
    /^class Client /m,
    [
      'function signsAtOnce({ authHandler }) {',
      '  const first = Array.isArray(authHandler) ? authHandler[0] : undefined;',
      "  return first?.type === 'publickey' && typeof first.key.type === 'string' && first.key.type !== 'ssh-rsa';",
      '}',
      'class Client ',
    ].join('\n'),
  ],
  // What a command reads is sent behind the request to run it, without the answer that it runs: a round trip for each
  // command. `early` gets the channel.
  [
    'reqExec',
    /^ *chan\._client\._protocol\.exec\(chan\.outgoing\.id, cmd, true\);\n/m,
    'chan._client._protocol.exec(chan.outgoing.id, cmd, true);\nopts.early?.(chan);\n',
  ],
];

/**
 * Each packet is three writes, its length, text and tag, and so three packets of TCP, because kbuild turns Nagle's
 * algorithm off. What is written at once goes at once: a system call here, and one time that sshd is woken there.
 */
const WRITE_CHANGES: readonly Change[] = [
  [
    'onWrite',
    /^ {6}onWrite: \(data\) => \{\n {8}if \(isWritable\(sock\)\)\n {10}sock\.write\(data\);\n {6}\},\n/m,
    [
      'onWrite: (data) => {',
      '  if (!isWritable(sock)) return;',
      '  if (sock.writableCorked === 0) {',
      '    sock.cork();',
      '    queueMicrotask(() => sock.uncork());',
      '  }',
      '  sock.write(data);',
      '},',
      '',
    ].join('\n'),
  ],
  // What was written before goes out first, as without that.
  [
    'destroy',
    /^ {4}this\._sock && isWritable\(this\._sock\) && this\._sock\.destroy\(\);\n/m,
    [
      'if (this._sock && isWritable(this._sock)) {',
      '  if (this._sock.writableCorked > 0) this._sock.uncork();',
      '  this._sock.destroy();',
      '}',
      '',
    ].join('\n'),
  ],
];

/** Poly1305 in WebAssembly is made for every connection; only servers without AES need it. It is made at once then. */
const CRYPTO_CHANGES: readonly Change[] = [
  ['init', /^ {2}init: \(\(\) => \{[^]*?^ {2}\}\)\(\),\n/m, '  init: Promise.resolve(),\n'],
  [
    'class ChaChaPolyCipherNative',
    /^class ChaChaPolyCipherNative \{\n {2}constructor\(config\) \{\n/m,
    [
      'function loadPoly1305() {',
      '  if (POLY1305_WASM_MODULE !== undefined) return;',
      '  const made = {};',
      "  require('./crypto/poly1305.js')(made);",
      '  POLY1305_RESULT_MALLOC = made._malloc(16);',
      "  poly1305_auth = made.cwrap('poly1305_auth', null, ['number', 'array', 'number', 'array', 'number', 'array']);",
      '  POLY1305_WASM_MODULE = made;',
      '}',
      'class ChaChaPolyCipherNative {',
      '  constructor(config) {',
      '    loadPoly1305();',
      '',
    ].join('\n'),
  ],
  [
    'class ChaChaPolyDecipherNative',
    /^class ChaChaPolyDecipherNative \{\n {2}constructor\(config\) \{\n/m,
    'class ChaChaPolyDecipherNative {\n  constructor(config) {\n    loadPoly1305();\n',
  ],
];

const SSH2_CHANGES: Readonly<Record<string, readonly Change[]>> = {
  'client.js': [...CLIENT_CHANGES, ...WRITE_CHANGES],
  'protocol/crypto.js': CRYPTO_CHANGES,
  'protocol/crypto/poly1305.js': [
    [
      'instantiate',
      /\(function\(\)\{return J\|\|"function"!==typeof WebAssembly\.instantiateStreaming[^]*?\}\)\(\)\.catch\(r\);/,
      'a(new WebAssembly.Instance(new WebAssembly.Module(pa()), e));',
    ],
  ],
  // The order of ciphers depends on what the processor can only where ssh2's own native part was built.
  'protocol/constants.js': [
    [
      'cpuInfo',
      /^try \{\n {2}cpuInfo = require\('cpu-features'\)\(\);\n\} catch \{\}\n\n(const \{ bindingAvailable, .*\n)/m,
      "$1if (bindingAvailable) try { cpuInfo = require('cpu-features')(); } catch {}\n",
    ],
  ],
};

/** ssh2 spends round trips and time on what kbuild does not need. */
export const ssh2: Plugin = {
  name: 'ssh2',
  setup: (build) => {
    build.onLoad({ filter: /\/ssh2\/lib\/.*\.js$/ }, ({ path }) => {
      const changes = SSH2_CHANGES[path.slice(path.lastIndexOf('/ssh2/lib/') + '/ssh2/lib/'.length)];
      if (changes === undefined) return undefined;
      let contents = readFileSync(path, 'utf8');
      for (const [name, pattern, replacement] of changes) {
        const changed = contents.replace(pattern, replacement);
        if (changed === contents) throw new Error(`${path} has another ${name} than ssh2.config.ts expects`);
        contents = changed;
      }
      return { contents };
    });
  },
};
