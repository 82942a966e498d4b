// Leads the https clients of Node to the proxy of https_proxy, whichever agent they have.
// NODE_OPTIONS loads it before a program.
'use strict';

const http = require('http');
const https = require('https');

const environment = process.env;
const direct = (environment.no_proxy || '').toLowerCase().split(',').filter(Boolean);

function isDirect(host) {
  const name = host.toLowerCase();
  return direct.some((end) => name === end || name.endsWith(end.startsWith('.') ? end : `.${end}`));
}

function withCredentials(proxy, headers) {
  if (!proxy.username) return headers;
  const words = [proxy.username, proxy.password].map(decodeURIComponent);
  const encoded = Buffer.from(words.join(':')).toString('base64');
  return { ...headers, 'Proxy-Authorization': `Basic ${encoded}` };
}

const connect = https.Agent.prototype.createConnection;

// Those that libraries make, too: Node's own option leads only the global agent to the proxy.
function tunnel(options, callback, ...rest) {
  const led = typeof options === 'object' && !options.socket && !this.options.proxyEnv;
  if (!led || isDirect(options.host)) return connect.call(this, options, callback, ...rest);
  const proxy = new URL(environment.https_proxy);
  const path = `${options.host}:${options.port}`;
  const headers = withCredentials(proxy, { Host: path });
  const { hostname: host, port } = proxy;
  const request = http.request({ host, port, method: 'CONNECT', path, headers, agent: false });
  request.once('error', callback);
  request.once('connect', (answer, socket) => {
    if (answer.statusCode === 200) {
      callback(null, connect.call(this, { ...options, socket }));
    } else {
      socket.destroy();
      callback(new Error(`the proxy answers: ${answer.statusCode} ${answer.statusMessage}`));
    }
  });
  request.end();
  return undefined;
}

if (environment.https_proxy) https.Agent.prototype.createConnection = tunnel;
