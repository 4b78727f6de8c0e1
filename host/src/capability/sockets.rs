//! `wasi:sockets` without sockets.
//!
//! The standard libraries of some languages import it whether they use it or not, so it is bound:
//! to functions that answer access-denied. No socket can be made, so nothing that takes one can be
//! reached, and name look-up is off. The network is reached by `wasi:http` only.

use wasmtime::component::{HasData, Linker, Resource};
use wasmtime_wasi::WasiView;
use wasmtime_wasi::p2::bindings::sockets::network::{ErrorCode, IpAddressFamily};
use wasmtime_wasi::p2::bindings::sockets::{
    instance_network, ip_name_lookup, network, tcp, tcp_create_socket, udp, udp_create_socket,
};
use wasmtime_wasi::p2::{Network, SocketError, SocketResult, TcpSocket, UdpSocket};
use wasmtime_wasi::sockets::{WasiSockets, WasiSocketsView};

use super::witness::Witness;
use crate::tool::ToolError;

/// Answers every wish for a socket with a refusal.
pub struct NoSockets<'a>(pub &'a Witness);

impl NoSockets<'_> {
    fn refuse(&self, what: &str) -> ErrorCode {
        let reason = "tools have no raw sockets; the network is reached by wasi:http";
        self.0.refuse(what, &ToolError::denied(reason));
        ErrorCode::AccessDenied
    }
}

impl tcp_create_socket::Host for NoSockets<'_> {
    fn create_tcp_socket(&mut self, _: IpAddressFamily) -> SocketResult<Resource<TcpSocket>> {
        Err(self.refuse("a TCP socket").into())
    }
}

impl udp_create_socket::Host for NoSockets<'_> {
    async fn create_udp_socket(&mut self, _: IpAddressFamily) -> SocketResult<Resource<UdpSocket>> {
        Err(self.refuse("a UDP socket").into())
    }
}

impl network::Host for NoSockets<'_> {
    fn convert_error_code(&mut self, error: SocketError) -> wasmtime::Result<ErrorCode> {
        error.downcast()
    }

    fn network_error_code(
        &mut self,
        _: Resource<wasmtime::Error>,
    ) -> wasmtime::Result<Option<ErrorCode>> {
        Ok(None)
    }
}

impl network::HostNetwork for NoSockets<'_> {
    fn drop(&mut self, _: Resource<Network>) -> wasmtime::Result<()> {
        // None is ever made here.
        Ok(())
    }
}

struct HasNoSockets;

impl HasData for HasNoSockets {
    type Data<'a> = NoSockets<'a>;
}

pub fn add_to_linker<T: WasiView>(
    linker: &mut Linker<T>,
    refuser: fn(&mut T) -> NoSockets<'_>,
) -> wasmtime::Result<()> {
    tcp_create_socket::add_to_linker::<T, HasNoSockets>(linker, refuser)?;
    udp_create_socket::add_to_linker::<T, HasNoSockets>(linker, refuser)?;
    tcp::add_to_linker::<T, WasiSockets>(linker, T::sockets)?;
    udp::add_to_linker::<T, WasiSockets>(linker, T::sockets)?;
    ip_name_lookup::add_to_linker::<T, WasiSockets>(linker, T::sockets)?;
    instance_network::add_to_linker::<T, WasiSockets>(linker, T::sockets)?;
    let options = network::LinkOptions::default();
    network::add_to_linker::<T, WasiSockets>(linker, &options, T::sockets)?;
    Ok(())
}
