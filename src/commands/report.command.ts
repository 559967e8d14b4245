import { declare, type OptionsOf } from '../session/command.ts';
import { everywhere, json, option, quiet } from '../session/options.ts';

export const report = declare({
  name: 'report',
  summary: 'Show a run as one HTML file: result, timeline, failures, plan, cluster',
  details:
    'Made from the record that every run leaves in `$XDG_STATE_HOME/kbuild/<cluster>/runs`, so old and interrupted runs can be shown too. The file needs no network and can be sent to others ([report.md](report.md)). kbuild overwrites only its own reports and traces.',
  onHosts: 'nothing',
  operand: {
    name: '[run]',
    summary:
      'id of a run or how it begins, a command for its newest run, or the path of a record (default: the newest run)',
    completes: 'runs',
  },
  options: [
    ...everywhere,
    json,
    quiet,
    option('--cluster <name>', { summary: 'name of the cluster, instead of an inventory', conflicts: 'inventory' }),
    option('-o, --output <file>', {
      summary: 'where to write the page, - for standard output (default ./<cluster>-<run>.html)',
    }),
    option('--trace <file>', {
      summary: 'write a Chrome trace, as ui.perfetto.dev opens it; the page too only with -o',
    }),
    option('--list', { summary: 'list the recorded runs of the cluster, the newest first', conflicts: 'output' }),
  ],
  examples: [
    'kbuild report',
    'kbuild report --list',
    'kbuild report up -o last-up.html',
    'kbuild report 20261121t1650 --cluster prod',
    'kbuild report --trace trace.json',
  ],
});

/** The values of its options. */
export type ReportOptions = OptionsOf<typeof report>;
