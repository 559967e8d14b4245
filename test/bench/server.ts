/**
 * An SSH server in this process that is any number of hosts: it answers the probe script with what was recorded.
 * Arguments: port, host key, login's public key, recorded answers.
 */
import { readFileSync } from 'node:fs';
import ssh2, { type Connection } from 'ssh2';

const [port, hostKey, login, file] = process.argv.slice(2) as [string, string, string, string];
const recorded = JSON.parse(readFileSync(file, 'utf8')) as { stdout: string; stderr: string; word: string };
const key = ssh2.utils.parseKey(readFileSync(login));
if (key instanceof Error) throw key;
const allowed = key.getPublicSSH();

const serve = (connection: Connection): void => {
  connection.on('error', () => undefined);
  connection.on('authentication', (asked) => {
    if (asked.method === 'publickey' && asked.key.data.equals(allowed)) asked.accept();
    else asked.reject(['publickey']);
  });
  connection.on('session', (accept) => {
    accept().on('exec', (acceptExec) => {
      const channel = acceptExec();
      let script = '';
      channel.on('data', (chunk: Buffer) => (script += chunk.toString()));
      channel.on('end', () => {
        const begun = /^echo (\w+); echo \1 >&2$/m.exec(script)![1]!;
        const word = /^NONCE=(\w+)$/m.exec(script)![1]!;
        channel.stderr.write(`${begun}\n${recorded.stderr.replaceAll(recorded.word, word)}`);
        channel.write(`${begun}\n${recorded.stdout.replaceAll(recorded.word, word)}`);
        channel.exit(0);
        channel.end();
      });
    });
  });
};
new ssh2.Server({ hostKeys: [readFileSync(hostKey)] }, serve).listen(Number(port), '0.0.0.0', () =>
  process.stdout.write('ready\n'),
);
