// Leads the https clients of Node to the proxy of https_proxy, as Node does by itself from versions
// 22.21 and 24.5 on. NODE_OPTIONS loads it before a program.
'use strict';

const http = require('http');
const https = require('https');

const environment = process.env;
const direct = (environment.no_proxy || '').toLowerCase().split(',').filter(Boolean);

function isDirect(host) {
  const name = host.toLowerCase();
  return direct.some((end) => name === end || name.endsWith(end.startsWith('.') ? end : `.${end}`));
}

class TunnellingAgent extends https.Agent {
  createConnection(options, callback) {
    if (isDirect(options.host)) return super.createConnection(options, callback);
    const proxy = new URL(environment.https_proxy);
    const path = `${options.host}:${options.port}`;
    const headers = { Host: path };
    if (proxy.username) {
      const words = [proxy.username, proxy.password].map(decodeURIComponent);
      const encoded = Buffer.from(words.join(':')).toString('base64');
      headers['Proxy-Authorization'] = `Basic ${encoded}`;
    }
    const { hostname: host, port } = proxy;
    const request = http.request({ host, port, method: 'CONNECT', path, headers, agent: false });
    request.once('error', callback);
    request.once('connect', (answer, socket) => {
      if (answer.statusCode === 200) {
        callback(null, super.createConnection({ ...options, socket }));
      } else {
        socket.destroy();
        callback(new Error(`the proxy answers: ${answer.statusCode} ${answer.statusMessage}`));
      }
    });
    request.end();
    return undefined;
  }
}

if (environment.https_proxy && !process.allowedNodeEnvironmentFlags.has('--use-env-proxy')) {
  https.globalAgent = new TunnellingAgent(https.globalAgent.options);
}
