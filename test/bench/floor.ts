/** The floor: the least that a program on ssh2 does to run one script on every host. Arguments: port, key, script, hosts…. */
import { readFileSync } from 'node:fs';
import ssh2 from 'ssh2';

const [port, key, script, ...hosts] = process.argv.slice(2);
const [text, stdin] = [readFileSync(key!), readFileSync(script!)];

const one = (host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const client = new ssh2.Client();
    client.on('connect', () => client.setNoDelay(true));
    client.on('error', reject);
    client.on('ready', () =>
      client.exec('/bin/sh -s', (error, stream) => {
        if (error !== undefined) {
          reject(error);
          return;
        }
        stream.resume();
        stream.stderr.resume();
        stream.on('close', (status: number) => {
          client.end();
          resolve(status);
        });
        stream.end(stdin);
      }),
    );
    const login = { type: 'publickey' as const, username: 'root', key: text };
    client.connect({ host, port: Number(port), username: 'root', authHandler: [login] });
  });

const queue = [...hosts];
await Promise.all(
  Array.from({ length: 30 }, async () => {
    for (let host = queue.shift(); host !== undefined; host = queue.shift()) await one(host);
  }),
);
