/** Every text that this program runs on a host. */
import {deepScript} from './deep-script.ts';
import {ownedScript} from './owned-script.ts';
import {ownersScript} from './owners-script.ts';
import {probeScript} from './probe-script.ts';
import type {RemoteScripts} from './remote-host.ts';
import {sampleScript} from './sample-script.ts';
import {settingsScript} from './settings-script.ts';
import {signalScript} from './signal-script.ts';
import {writesScript} from './writes-script.ts';

export const REMOTE_SCRIPTS: RemoteScripts = {
  probe: probeScript,
  deep: deepScript,
  writes: writesScript,
  owners: ownersScript,
  owned: ownedScript,
  settings: settingsScript,
  sample: sampleScript,
  signal: signalScript,
};
